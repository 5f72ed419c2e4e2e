import DBus
import EventLoop

let interface: InterfaceName = "org.example.Greeter"
let greeted = Signal<String, UInt32>("Greeted", of: interface, arguments: ["name", "count"])

EventLoop.main {
    let connection = try await Connection.open(.session)
    let greeter = Proxy(
        connection,
        destination: "org.example.Greeter",
        path: "/org/example/Greeter",
        interface: interface
    )
    let greetings = try connection.signals(greeted, from: greeter.path, of: greeter.destination)

    print(try await greeter.call("Greet", "world").results(String.self))
    print("greeted so far: \(try await greeter.get("Count", as: UInt32.self))")

    for try await (name, count) in greetings {
        print("\(name) was number \(count)")
        break
    }
    do {
        try await greeter.call("Greet", "")
    } catch let error as DBusError where error.name == .invalidArguments {
        print("refused: \(error.message)")
    }
}
