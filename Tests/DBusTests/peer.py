# SPDX-License-Identifier: Apache-2.0
"""The other implementation: dbus-python at its low level, where any signature survives.

peer.py echo                     a service that returns what it is given, until it is ended
peer.py call NAME SEED COUNT     random calls of such a service, whose answers are compared

The loop is GLib's by ctypes: dbus-python needs no more of it than that it runs.
"""

import ctypes
import math
import random
import struct
import sys

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib

INTERFACE = "org.example.Echo"


def echo(connection):
    def answer(connection, message):
        if not isinstance(message, dbus.lowlevel.MethodCallMessage):
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        if message.get_interface() != INTERFACE:
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        try:
            reply = dbus.lowlevel.MethodReturnMessage(message)
            arguments = message.get_args_list()
            reply.append(*arguments, signature=message.get_signature())
        except Exception as error:  # the caller is to hear of it, whatever it is
            text = "%s: %s" % (type(error).__name__, error)
            reply = dbus.lowlevel.ErrorMessage(message, "org.example.Failed", text)
        connection.send_message(reply)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    connection.add_message_filter(answer)
    print("serving as %s" % connection.get_unique_name(), flush=True)
    glib = ctypes.CDLL("libglib-2.0.so.0")
    glib.g_main_loop_new.restype = ctypes.c_void_p
    glib.g_main_loop_run.argtypes = [ctypes.c_void_p]
    glib.g_main_loop_run(glib.g_main_loop_new(None, 0))


class Generator:
    """Random types and values, made without a look at the Swift ones."""

    INTEGERS = {
        "y": (dbus.Byte, 0, 8),
        "n": (dbus.Int16, 1, 16),
        "q": (dbus.UInt16, 0, 16),
        "i": (dbus.Int32, 1, 32),
        "u": (dbus.UInt32, 0, 32),
        "x": (dbus.Int64, 1, 64),
        "t": (dbus.UInt64, 0, 64),
    }
    BASIC = "ybnqiuxtdsog"
    PIECES = ["a", "Z", " ", "'", "\n", "\x01", "ß", "e\u0301", "語", "🛰", "\ufeff", "\uffff"]

    def __init__(self, seed):
        self.random = random.Random(seed)

    def type(self, depth):
        kind = self.random.randrange(8) if depth > 0 else 0
        if kind in (2, 3):
            return "a" + self.type(depth - 1)
        if kind == 4:
            members = range(self.random.randint(1, 3))
            return "(" + "".join(self.type(depth - 1) for _ in members) + ")"
        if kind == 5:
            return "a{" + self.random.choice(self.BASIC) + self.type(depth - 1) + "}"
        if kind >= 6:
            return "v"
        return self.random.choice(self.BASIC)

    def value(self, signature, depth):
        """A value of a type, in which variants are nested to some depth at most."""
        kind = signature[0]
        if kind in self.INTEGERS:
            return self.integer(*self.INTEGERS[kind])
        if kind == "b":
            return dbus.Boolean(self.random.random() < 0.5)
        if kind == "d":
            return dbus.Double(self.double())
        if kind == "s":
            return dbus.String(self.text())
        if kind == "o":
            steps = [self.random.choice(["a", "_", "org", "T_9"]) for _ in range(self.size())]
            return dbus.ObjectPath("/" + "/".join(steps))
        if kind == "g":
            return dbus.Signature("".join(self.type(2) for _ in range(self.size())))
        if kind == "v":
            return self.variant(depth)
        if kind == "(":
            members = list(dbus.Signature(signature[1:-1]))
            return dbus.Struct([self.value(m, depth) for m in members], signature=signature[1:-1])
        if signature.startswith("a{"):
            content = signature[2:-1]
            entries = [
                (self.value(content[0], depth), self.value(content[1:], depth))
                for _ in range(self.size())
            ]
            return dbus.Dictionary(entries, signature=content)
        elements = [self.value(signature[1:], depth) for _ in range(self.size())]
        return dbus.Array(elements, signature=signature[1:])

    def variant(self, depth):
        signature = self.type(2 if depth > 0 else 0)
        content = self.value(signature, depth - 1)
        level = content.variant_level + 1
        if isinstance(content, dbus.Struct):
            return dbus.Struct(content, signature=content.signature, variant_level=level)
        if isinstance(content, dbus.Array):
            return dbus.Array(content, signature=content.signature, variant_level=level)
        if isinstance(content, dbus.Dictionary):
            return dbus.Dictionary(content, signature=content.signature, variant_level=level)
        return type(content)(content, variant_level=level)

    def integer(self, kind, is_signed, bits):
        low, high = -(1 << bits - 1) if is_signed else 0, (1 << bits - is_signed) - 1
        return kind(self.random.choice([low, high, 0, 1, self.random.randint(low, high)]))

    def double(self):
        edges = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308]
        any_bits = struct.unpack("<d", self.random.randbytes(8))[0]
        return self.random.choice(edges + [any_bits] * 4)

    def text(self):
        count = self.random.choice([255, 256, 4096, 30000]) if self.random.random() < 0.02 else 0
        return self.random.choice(self.PIECES) * count + "".join(
            self.random.choice(self.PIECES) for _ in range(self.random.randrange(9))
        )

    def size(self):
        return self.random.choice([0, 1, 1, 2, 3])


def form(value):
    """All that is told of a value on the bus, in a form that can be compared."""
    kind, level = type(value).__name__, value.variant_level
    if isinstance(value, dbus.Double):
        return kind, level, struct.pack("<d", value)
    if isinstance(value, dbus.Dictionary):
        entries = [(form(key), form(content)) for key, content in value.items()]
        return kind, level, str(value.signature), entries
    if isinstance(value, dbus.Array):
        return kind, level, str(value.signature), [form(element) for element in value]
    if isinstance(value, dbus.Struct):
        return kind, level, [form(member) for member in value]
    return kind, level, str(value) if isinstance(value, str) else int(value)


def call(connection, name, seed, count):
    generator = Generator(seed)
    for index in range(count):
        types = [generator.type(4) for _ in range(generator.random.randrange(5))]
        if len("".join(types)) > 255:
            continue
        values = [generator.value(signature, 3) for signature in types]
        message = dbus.lowlevel.MethodCallMessage(name, "/", INTERFACE, "Echo")
        message.append(*values, signature="".join(types))
        reply = connection.send_message_with_reply_and_block(message, 20)
        same = [form(value) for value in reply.get_args_list()] == [form(v) for v in values]
        if not same or reply.get_signature() != "".join(types):
            print("seed %d, message %d: changed on the way: %r" % (seed, index, values))
            sys.exit(1)
    print("all %d came back" % count, flush=True)


def main():
    loop = dbus.mainloop.glib.DBusGMainLoop()
    connection = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION, mainloop=loop)
    if sys.argv[1] == "echo":
        echo(connection)
    else:
        call(connection, sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))


main()
