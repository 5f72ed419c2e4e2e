// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

extension Connection {
    /// Exports an object: calls of its methods are handled from now on.
    ///
    /// Every object also has `Introspectable`, `Properties` and `Peer`. Export objects before
    /// requesting the name by which callers find them.
    ///
    /// - Parameters:
    ///   - interfaces: What the object can do.
    ///   - path: Where it is; there must be no other.
    ///   - owner: The only connection that can see it; `nil` if all can.
    /// - Returns: The object, for its signals and the changes of its properties.
    @discardableResult
    public func export(
        _ interfaces: [Interface],
        at path: ObjectPath,
        visibleTo owner: BusName? = nil
    ) -> ExportedObject {
        let object = ExportedObject(interfaces, at: path, visibleTo: owner, on: self)
        guard !isEnded else {
            object.letGo()
            return object
        }
        objects.insert(object)
        ObjectManager.tellAdded(object, on: self)
        return object
    }

    /// Exports an object that tells of all objects below it
    /// (`org.freedesktop.DBus.ObjectManager`): which there are, and which come and go.
    ///
    /// What only one connection can see is told to that one.
    ///
    /// - Parameters:
    ///   - path: Where it is; there must be no other.
    ///   - interfaces: What else the object can do.
    /// - Returns: The object.
    @discardableResult
    public func exportManager(
        at path: ObjectPath,
        _ interfaces: [Interface] = []
    ) -> ExportedObject {
        let manager = ObjectManager.interface(at: path, on: self)
        let object = export(interfaces + [manager], at: path)
        if !isEnded { objects.addManager(at: path) }
        return object
    }

    /// Answers for all paths below one at which no object is exported: for objects that are too
    /// many to export, or that exist by being called.
    ///
    /// - Parameters:
    ///   - path: The path above them.
    ///   - interfaces: Takes a call and returns what the object at its path can do; `nil` if there
    ///     is none. Ends an earlier one at the same path.
    public func exportFallback(
        below path: ObjectPath,
        _ interfaces: @escaping @LoopActor (Call) -> [Interface]?
    ) {
        guard !isEnded else { return }
        objects.setFallback(interfaces, below: path)
    }

    /// Ends a fallback: the paths below are unknown from now on.
    public func withdrawFallback(below path: ObjectPath) {
        objects.setFallback(nil, below: path)
    }

    /// Takes an exported object back: its path is unknown to callers from now on.
    public func withdraw(_ path: ObjectPath) {
        guard let object = objects.remove(at: path) else { return }
        ObjectManager.tellRemoved(object, on: self)
        object.letGo()
    }

    // MARK: Incoming calls

    /// Finds who handles a call, and answers it if nobody does.
    func handle(_ call: Call, _ message: borrowing Message) {
        let answer = Answer(to: call, over: self)
        do {
            try method(for: call).run(call, message, answer)
        } catch {
            answer.fail(error)
        }
    }

    private func method(for call: Call) throws(DBusError) -> Method {
        let object = object(for: call)
        // Nodes on the way to an object can be introspected, so that tools find their way.
        guard object != nil || objects.hasChildren(call.path, for: call.sender) else {
            throw DBusError(.unknownObject, "there is no object at “\(call.path)”")
        }
        // Most calls are of the object's own interfaces.
        if let object, let method = try method(for: call, in: object.interfaces) {
            return method
        }
        let standard = object?.standardInterfaces ?? StandardInterfaces.ofNode
        if let method = try method(for: call, in: standard) { return method }
        if let name = call.interface {
            throw DBusError(
                .unknownInterface,
                "the object at “\(call.path)” has no interface “\(name)”"
            )
        }
        throw DBusError(
            .unknownMethod,
            "the object at “\(call.path)” has no method “\(call.member)”"
        )
    }

    private func object(for call: Call) -> ExportedObject? {
        // Where others cannot see an object all is as if there were none.
        if let object = objects[call.path], object.isVisible(to: call.sender) { return object }
        return objects.fallback(for: call.path)?(call).map {
            ExportedObject($0, at: call.path, visibleTo: nil, on: self)
        }
    }

    /// The method of one of some interfaces, `nil` if none of them is meant.
    private func method(for call: Call, in interfaces: [Interface]) throws(DBusError) -> Method? {
        // No closures: Swift looks at each call of one that belongs to an actor where it runs.
        var isThere = false
        for index in interfaces.indices {
            if let name = call.interface, interfaces[index].name != name { continue }
            guard interfaces[index].isVisible(to: call) else { continue }
            if let method = interfaces[index].method(call.member) { return method }
            isThere = true
        }
        guard isThere, let name = call.interface else { return nil }
        throw DBusError(
            .unknownMethod,
            "the interface “\(name)” has no method “\(call.member)”"
        )
    }
}
