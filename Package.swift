// swift-tools-version: 6.2

import PackageDescription

/// What every target is compiled with: Swift 6 concurrency, explicit leaks, no warnings.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Modules that touch no C pointer prove it to the compiler.
let pure = common + [.strictMemorySafety()]

let package = Package(
    name: "Waymark",
    products: [
        .library(name: "Geo", targets: ["Geo"]),
        .library(name: "NMEA", targets: ["NMEA"]),
        .library(name: "DBus", targets: ["DBus", "EventLoop"]),
    ],
    targets: [
        // C libraries: headers only, nothing is compiled.
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CGPS", pkgConfig: "libgps", providers: [.apt(["libgps-dev"])]),
        .systemLibrary(
            name: "CSystemd",
            pkgConfig: "libsystemd",
            providers: [.apt(["libsystemd-dev"])]
        ),
        .systemLibrary(name: "CLinux"),

        // The layers, lowest first: a module imports only what stands above it and is named.
        .target(name: "Geo", swiftSettings: pure),
        .target(name: "NMEA", dependencies: ["Geo"], swiftSettings: pure),

        .target(name: "EventLoop", dependencies: ["CLinux"], swiftSettings: common),
        .target(name: "DBus", dependencies: ["CDBus", "EventLoop"], swiftSettings: common),
        .target(
            name: "Positioning",
            dependencies: ["CGPS", "CLinux", "EventLoop", "Geo", "NMEA"],
            swiftSettings: common
        ),
        .target(
            name: "PositioningDBus",
            dependencies: ["DBus", "EventLoop", "Geo", "NMEA", "Positioning"],
            swiftSettings: pure
        ),
        .target(name: "Consent", swiftSettings: pure),
        .target(name: "Interfaces", dependencies: ["DBus", "Geo"], swiftSettings: pure),
        .target(
            name: "Service",
            dependencies: [
                "Consent", "CSystemd", "DBus", "EventLoop", "Geo", "Interfaces", "Positioning",
                "PositioningDBus",
            ],
            swiftSettings: common
        ),
        .target(
            name: "LocationClient",
            dependencies: ["DBus", "EventLoop", "Geo", "Interfaces"],
            swiftSettings: pure
        ),
        .executableTarget(
            name: "waymarkd",
            dependencies: ["CLinux", "DBus", "EventLoop", "Geo", "NMEA", "Positioning", "Service"],
            swiftSettings: common
        ),
        .executableTarget(
            name: "waymark",
            dependencies: ["DBus", "EventLoop", "Geo", "Interfaces", "LocationClient"],
            swiftSettings: common
        ),

        .target(
            name: "TestKit",
            dependencies: ["CLinux", "DBus", "EventLoop", "Geo", "Interfaces"],
            path: "Tests/TestKit",
            swiftSettings: common
        ),
        .executableTarget(
            name: "bench-dbus-service",
            dependencies: ["CLinux", "DBus", "EventLoop"],
            path: "Tests/Benchmarks/bench-dbus-service",
            swiftSettings: common
        ),
        .executableTarget(
            name: "bench-dbus",
            // The service is run, not imported: it has to be built.
            dependencies: ["CDBus", "EventLoop", "TestKit", "bench-dbus-service"],
            path: "Tests/Benchmarks/bench-dbus",
            swiftSettings: common
        ),
        .executableTarget(
            name: "bench-nmea",
            dependencies: ["Geo", "NMEA"],
            path: "Tests/Benchmarks/bench-nmea",
            swiftSettings: common
        ),
        .testTarget(name: "GeoTests", dependencies: ["Geo"], swiftSettings: pure),
        .executableTarget(
            name: "LoopProbe",
            dependencies: ["EventLoop"],
            path: "Tests/LoopProbe",
            swiftSettings: common
        ),
        .testTarget(
            name: "EventLoopTests",
            dependencies: ["EventLoop", "LoopProbe", "TestKit"],
            swiftSettings: common
        ),
        // The example package's programs, built here as well for the tests to run.
        .executableTarget(
            name: "greeter",
            dependencies: ["DBus", "EventLoop"],
            path: "Tests/ExamplePackage/Sources/greeter",
            swiftSettings: common
        ),
        .executableTarget(
            name: "greet",
            dependencies: ["DBus", "EventLoop"],
            path: "Tests/ExamplePackage/Sources/greet",
            swiftSettings: common
        ),
        .executableTarget(
            name: "login-sessions",
            dependencies: ["DBus", "EventLoop"],
            path: "Tests/ExamplePackage/Sources/login-sessions",
            swiftSettings: common
        ),
        .target(
            name: "Fuzzing",
            dependencies: ["CDBus", "DBus", "Geo", "NMEA"],
            path: "Tests/Fuzzing",
            swiftSettings: common
        ),
        .executableTarget(
            name: "fuzz-dbus",
            dependencies: ["Fuzzing"],
            path: "Tests/Fuzz/DBus",
            swiftSettings: common
        ),
        .executableTarget(
            name: "fuzz-nmea",
            dependencies: ["Fuzzing"],
            path: "Tests/Fuzz/NMEA",
            exclude: ["corpus"],
            swiftSettings: common
        ),
        .testTarget(
            name: "DBusTests",
            dependencies: [
                "CDBus", "DBus", "EventLoop", "Fuzzing", "TestKit", "fuzz-dbus", "greet",
                "greeter", "login-sessions",
            ],
            exclude: ["peer.py"],
            swiftSettings: common
        ),
        .testTarget(
            name: "PositioningTests",
            dependencies: ["CLinux", "EventLoop", "Geo", "NMEA", "Positioning", "TestKit"],
            swiftSettings: common
        ),
        .testTarget(
            name: "PositioningDBusTests",
            dependencies: [
                "DBus", "EventLoop", "Geo", "Positioning", "PositioningDBus", "TestKit",
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "Consent", "EventLoop", "Geo", "Interfaces", "Positioning", "Service", "TestKit",
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "NMEATests",
            dependencies: ["EventLoop", "Geo", "NMEA", "TestKit", "fuzz-nmea"],
            swiftSettings: common
        ),
        .testTarget(
            name: "IntegrationTests",
            // The two programs are run, not imported: they have to be built.
            dependencies: [
                "DBus", "EventLoop", "Geo", "Interfaces", "TestKit", "waymark", "waymarkd",
            ],
            swiftSettings: common
        ),
    ]
)
