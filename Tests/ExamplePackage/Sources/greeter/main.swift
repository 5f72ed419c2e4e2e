import DBus
import EventLoop

let interface: InterfaceName = "org.example.Greeter"
let greeted = Signal<String, UInt32>("Greeted", of: interface, arguments: ["name", "count"])

EventLoop.main {
    let connection = try await Connection.open(.session)
    var count: UInt32 = 0
    var object: ExportedObject?

    let greeter = Interface(
        interface,
        [
            .method("Greet", in: ["name"], out: ["greeting"]) { (_, name: String) -> String in
                guard !name.isEmpty else {
                    throw DBusError(.invalidArguments, "say who is to be greeted")
                }
                count += 1
                try object?.emit(greeted, name, count)
                object?.propertiesChanged("Count", of: interface)
                return "Hello, \(name)!"
            },
            .property("Count") { _ in count },
            .signal(greeted),
        ]
    )
    object = connection.export([greeter], at: "/org/example/Greeter")
    try await connection.requestName("org.example.Greeter")
    await connection.waitForEnd()
}
