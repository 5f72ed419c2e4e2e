// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The objects that a connection exports, by path.
@LoopActor final class ObjectTree {
    /// Makes objects of calls, for the paths below one.
    typealias Fallback = @LoopActor (Call) -> [Interface]?

    private(set) var all: [ObjectPath: ExportedObject] = [:]
    /// The objects that tell of all below them (`ObjectManager` of the specification).
    private(set) var managers: Set<ObjectPath> = []
    private var fallbacks: [ObjectPath: Fallback] = [:]

    nonisolated init() {}

    subscript(path: ObjectPath) -> ExportedObject? { all[path] }

    func insert(_ object: ExportedObject) {
        precondition(all[object.path] == nil, "an object is exported at \(object.path) already")
        all[object.path] = object
    }

    /// - Returns: What was there. It is let go of by the caller, since the end of what a handler
    ///   holds may well withdraw other objects, which must not happen while the table is being
    ///   changed.
    func remove(at path: ObjectPath) -> ExportedObject? {
        managers.remove(path)
        return all.removeValue(forKey: path)
    }

    func removeAll() {
        managers = []
        for object in exchange(&all, with: [:]).values { object.letGo() }
        _ = exchange(&fallbacks, with: [:])
    }

    func addManager(at path: ObjectPath) {
        managers.insert(path)
    }

    func setFallback(_ fallback: Fallback?, below path: ObjectPath) {
        let old = fallbacks[path]
        fallbacks[path] = fallback
        _ = old
    }

    /// What answers for the paths below one: that of the nearest path above.
    func fallback(for path: ObjectPath) -> Fallback? {
        guard !fallbacks.isEmpty else { return nil }
        var nearest = path.parent
        while let path = nearest {
            if let fallback = fallbacks[path] { return fallback }
            nearest = path.parent
        }
        return nil
    }

    /// The steps that lead from a path to objects below it, as far as the caller can see.
    func children(of path: ObjectPath, for caller: BusName?) -> [Substring] {
        var steps: Set<Substring> = []
        for (other, object) in all where object.isVisible(to: caller) {
            if let step = path.nextStep(towards: other) { steps.insert(step) }
        }
        return steps.sorted()
    }

    /// Whether there is an object below a path, as far as the caller can see.
    func hasChildren(_ path: ObjectPath, for caller: BusName?) -> Bool {
        all.contains { $1.isVisible(to: caller) && path.nextStep(towards: $0) != nil }
    }
}
