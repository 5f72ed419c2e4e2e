// SPDX-License-Identifier: Apache-2.0

public import EventLoop
public import Geo

/// What a source tells.
public enum SourceEvent: Hashable, Sendable {
    /// A new fix.
    case fix(Fix)
    /// It cannot give fixes for the time being; the reason is a clause without coordinates, such
    /// as `cannot connect to localhost:2947: Connection refused`.
    case unavailable(reason: String)
    /// What was in the way is gone; a fix may follow.
    case available
}

/// Something that tells where the device is: a receiver, a service, a recording, a constant.
///
/// A source uses no power and makes no wake-up before it is started and after it is stopped.
@LoopActor public protocol LocationSource: AnyObject {
    /// The name it has in the configuration, for messages.
    var name: String { get }

    /// The horizontal accuracy in metres that it reaches when all is well.
    var bestAccuracyMetres: Double { get }

    /// Whether it tells one fix when it is started and no other, so that it has to be started again
    /// to be heard again.
    var tellsOnce: Bool { get }

    /// Begins to tell, until ``stop()``. Called on a stopped source only.
    ///
    /// - Parameter receiver: Told what comes, never before this call has returned.
    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void)

    /// Stops at once: the receiver is not called again, and what the source holds is released.
    func stop()
}

extension LocationSource {
    /// No: a receiver goes on telling.
    public var tellsOnce: Bool { false }
}

/// Where a source tells its comings and goings, in sentences without coordinates.
public typealias SourceLog = @LoopActor (String) -> Void
