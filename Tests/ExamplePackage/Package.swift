// swift-tools-version: 6.2

// A package of its own that uses the D-Bus wrapper as any other would: its programs are those of
// the article "A service and a client", and one that talks to the login manager.

import PackageDescription

let package = Package(
    name: "Example",
    dependencies: [.package(name: "Waymark", path: "../..")],
    targets: ["greeter", "greet", "login-sessions"].map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "DBus", package: "Waymark")],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        )
    }
)
