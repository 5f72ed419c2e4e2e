// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import TestKit
import Testing

/// A receiver that is announced on a network, by a real Avahi, to the real daemon: both in a network
/// of their own, which nobody else is in.
@Suite @LoopActor struct AnnouncedReceiverTests {
    private nonisolated static let missing: String? = {
        if getuid() != 0 { return "it takes root to make a network" }
        let programs = ["unshare", "ip", "avahi-daemon", "avahi-publish", "python3"]
        if let program = programs.first(where: { !isInstalled($0) }) {
            return "\(program) is not installed"
        }
        let attempt = "ip link add one type veth peer name two && mount -t tmpfs tmpfs /mnt"
        let status = system("unshare --net --mount --pid --fork sh -c '\(attempt)' 2>/dev/null")
        return status == 0 ? nil : "networks cannot be made here"
    }()

    /// A network with one address, in which the announcement, the receiver and the daemon live.
    ///
    /// Arguments: the port, the folder with the track, the daemon's path, the bus, the configuration.
    private static let script = """
        set -e
        mount -t tmpfs tmpfs /run/avahi-daemon 2>/dev/null || {
            mkdir -p /run/avahi-daemon; mount -t tmpfs tmpfs /run/avahi-daemon; }
        ip link set lo up
        ip link add one type veth peer name two
        ip address add 192.0.2.1/24 dev one
        ip link set one up multicast on
        ip link set two up
        avahi-daemon --no-drop-root --no-chroot --no-rlimits --file="$2/avahi.conf" &
        python3 "$2/receiver.py" "$1" "$2/track.nmea" &
        avahi-publish --no-fail --service "a telephone" _nmea-0183._tcp "$1" accuracy=exact &
        exec "$3" --bus "$4" --config "$5"
        """

    private static let receiver = """
        import socket, sys, time
        server = socket.create_server(("192.0.2.1", int(sys.argv[1])))
        while True:
            client, _ = server.accept()
            try:
                for line in open(sys.argv[2], "rb"):
                    client.sendall(line)
                    time.sleep(0.02)
            except OSError:
                pass
            client.close()
        """

    @Test(.enabled(if: missing == nil, Comment(rawValue: "skipped: \(missing ?? "")")))
    func `it is found, read and told`() async throws {
        let bus = try await PrivateBus.start()
        let folder = try TemporaryFolder()
        try folder.write("track.nmea", Rig.track.sentences(0..<200))
        try folder.write("receiver.py", Self.receiver)
        try folder.write(
            "avahi.conf",
            "[server]\nuse-ipv6=no\nallow-interfaces=one\nenable-dbus=yes\n[publish]\n"
        )
        let configuration = try folder.write(
            "waymark.conf",
            "[source.phone]\ntype = nmea\naddress = avahi:\n" + Rig.everybody
        )
        let script = try folder.write("network", Self.script)
        let network = try ChildProcess(
            "unshare",
            [
                "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", script,
                "10110", folder.path, try builtProgram("waymarkd"), bus.address, configuration,
            ],
            environment: bus.environment
        )
        let witness = try await bus.connect()
        // Avahi takes its time to announce anything, and more beside other tests.
        try await eventually("the daemon's name", within: .seconds(50)) {
            try await witness.owner(of: Waymark.busName) != nil
        }
        let program = try await Program(try await bus.connect())
        try await program.service.call("Start")
        let news = try await program.news.next("a location", within: .seconds(50)) {
            if case .location = $0 { true } else { false }
        }
        guard case .location(let location) = news else { throw DeadlinePassed("a location") }
        #expect(abs(location.fix.coordinate.latitude - Rig.track.latitude) < 0.01)
        #expect(!location.fix.isSimulated && location.fix.horizontalAccuracy < 20)
        try await program.service.call("Stop")
        network.signalGroup(SIGKILL)
    }
}
