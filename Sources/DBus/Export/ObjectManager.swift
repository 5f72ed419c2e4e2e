// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// `org.freedesktop.DBus.ObjectManager`: one object that tells of all below it.
enum ObjectManager {
    typealias Interfaces = [InterfaceName: [String: PropertyContent]]

    static let name: InterfaceName = "org.freedesktop.DBus.ObjectManager"

    private static let added = Signal<ObjectPath, [InterfaceName: [String: Value]]>(
        "InterfacesAdded",
        of: name,
        arguments: ["object_path", "interfaces_and_properties"]
    )
    private static let removed = Signal<ObjectPath, [InterfaceName]>(
        "InterfacesRemoved",
        of: name,
        arguments: ["object_path", "interfaces"]
    )

    @LoopActor static func interface(at path: ObjectPath, on connection: Connection) -> Interface {
        Interface(
            name,
            [
                .method("GetManagedObjects", out: ["objects"]) {
                    [weak connection] (call) -> [ObjectPath: Interfaces] in
                    guard let connection else { throw DBusError.closed }
                    var objects: [ObjectPath: Interfaces] = [:]
                    for object in connection.objects.all.values
                    where object.isVisible(to: call.sender)
                        && path.nextStep(towards: object.path) != nil
                    {
                        objects[object.path] = interfaces(of: object, for: call)
                    }
                    return objects
                },
                .signal(added),
                .signal(removed),
            ]
        )
    }

    /// Tells that an object is there, for each manager above it.
    @LoopActor static func tellAdded(_ object: ExportedObject, on connection: Connection) {
        guard !connection.objects.managers.isEmpty else { return }
        let look = Call(lookingAt: object.path, for: object.owner, over: connection)
        for manager in managers(above: object, on: connection) {
            guard
                var message = try? Message.signal(
                    added.name,
                    of: name,
                    from: manager,
                    to: object.owner
                ),
                (try? message.append(object.path, interfaces(of: object, for: look))) != nil
            else { continue }
            try? connection.send(message)
        }
    }

    /// Tells that an object is there no more.
    @LoopActor static func tellRemoved(_ object: ExportedObject, on connection: Connection) {
        guard !connection.objects.managers.isEmpty else { return }
        let look = Call(lookingAt: object.path, for: object.owner, over: connection)
        let names = object.interfaces.filter { $0.isVisible(to: look) }.map(\.name)
        for manager in managers(above: object, on: connection) {
            try? connection.emit(removed, from: manager, to: object.owner, object.path, names)
        }
    }

    @LoopActor private static func managers(
        above object: ExportedObject,
        on connection: Connection
    ) -> [ObjectPath] {
        connection.objects.managers.filter { $0.nextStep(towards: object.path) != nil }
    }

    @LoopActor private static func interfaces(
        of object: ExportedObject,
        for call: Call
    ) -> Interfaces {
        var interfaces: Interfaces = [:]
        for interface in object.interfaces where interface.isVisible(to: call) {
            // One that cannot be read now hides nothing else.
            interfaces[interface.name] = interface.readableContents(for: call)
        }
        return interfaces
    }
}
