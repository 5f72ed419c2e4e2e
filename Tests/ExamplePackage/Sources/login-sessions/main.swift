// Prints who is logged in, then waits until the login manager tells that the machine is about to
// sleep: structures, object paths, a descriptor, cached properties and a signal.

import DBus
import EventLoop
import Glibc

let name: BusName = "org.freedesktop.login1"
let managerInterface: InterfaceName = "org.freedesktop.login1.Manager"
let prepareForSleep = Signal<Bool>("PrepareForSleep", of: managerInterface, arguments: ["start"])

/// One entry of the manager's list of sessions, `(susso)` on the bus.
struct Session: DBusConvertible {
    var id: String
    var user: String
    var seat: String
    var path: ObjectPath

    var dbusForm: Struct<String, UInt32, String, String, ObjectPath> {
        Struct(id, 0, user, seat, path)
    }

    init(dbusForm form: Struct<String, UInt32, String, String, ObjectPath>) {
        (id, _, user, seat, path) = form.members
    }
}

EventLoop.main {
    let connection = try await Connection.open(.system)
    let manager = Proxy(
        connection,
        destination: name,
        path: "/org/freedesktop/login1",
        interface: managerInterface
    )
    for session in try await manager.call("ListSessions").results([Session].self) {
        let properties = try await Proxy(
            connection,
            destination: name,
            path: session.path,
            interface: "org.freedesktop.login1.Session"
        ).cachedProperties()
        let isActive = try properties.value(of: "Active", as: Bool.self) ?? false
        let state = isActive ? "active" : "inactive"
        print("session \(session.id) of \(session.user) at \(session.seat): \(state)")
    }
    let lock = try await manager.call("Inhibit", "sleep", "Example", "to show how", "delay")
        .results(UnixDescriptor.self)
    print("sleep is delayed")
    // Now it may wait for hours: what was printed is not to wait in a buffer.
    fflush(nil)
    for try await start in try connection.signals(prepareForSleep, from: manager.path, of: name)
    where start {
        print("going to sleep")
        break
    }
    withExtendedLifetime(lock) {}
}
