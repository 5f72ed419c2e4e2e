// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The objects that a connection exports, by path.
@LoopActor final class ObjectTree {
    private var objects: [ObjectPath: ExportedObject] = [:]

    nonisolated init() {}

    func insert(_ object: ExportedObject, at path: ObjectPath) {
        precondition(objects[path] == nil, "an object is exported at \(path) already")
        objects[path] = object
    }

    func remove(at path: ObjectPath) {
        // Taken out first and let go of afterwards: the end of what a handler holds may well
        // withdraw other objects, which must not happen while the table is being changed.
        _ = objects.removeValue(forKey: path)
    }

    func removeAll() {
        _ = exchange(&objects, with: [:])
    }

    /// The object at a path, `nil` if there is none as far as the caller can see.
    func object(at path: ObjectPath, for caller: BusName?) -> ExportedObject? {
        objects[path].flatMap { $0.isVisible(to: caller) ? $0 : nil }
    }

    /// The steps that lead from a path to objects below it, as far as the caller can see.
    func children(of path: ObjectPath, for caller: BusName?) -> [Substring] {
        var steps: Set<Substring> = []
        for (other, object) in objects where object.isVisible(to: caller) {
            if let step = path.nextStep(towards: other) { steps.insert(step) }
        }
        return steps.sorted()
    }
}

/// One object: its interfaces, and who may see it.
@LoopActor final class ExportedObject {
    let interfaces: [Interface]
    private let owner: BusName?

    init(interfaces: [Interface], visibleTo owner: BusName?) {
        self.interfaces = interfaces
        self.owner = owner
    }

    func isVisible(to caller: BusName?) -> Bool {
        owner == nil || owner == caller
    }

    func interface(_ name: InterfaceName) -> Interface? {
        interfaces.first { $0.name == name }
    }
}
