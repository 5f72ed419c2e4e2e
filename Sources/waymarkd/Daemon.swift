// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import Service

/// The process around the service: its bus, its configuration, its signals and its end.
@LoopActor final class Daemon {
    private let options: Options
    private let log: any Log
    private var connection: Connection?
    private var service: LocationService?
    private var signals: SignalWatch?

    /// The process's exit status.
    private(set) var status: Int32 = EXIT_SUCCESS

    nonisolated init(_ options: Options) {
        self.options = options
        log = SystemLog(threshold: options.isVerbose ? .debug : .info)
    }

    /// Begins to serve; the event loop is stopped when that ends.
    func start() async {
        do {
            let configuration = try loadConfiguration()
            try checkState()
            signals = try SignalWatch([SIGTERM, SIGINT, SIGHUP]) { [weak self] signal in
                self?.received(signal)
            }
            let connection = try await openBus()
            let service = LocationService(
                connection: connection,
                configuration: configuration,
                log: log
            )
            connection.onDisconnect = { [weak self] in
                self?.fail("the bus has closed the connection")
            }
            self.connection = connection
            self.service = service
            try await service.start()
            notifyServiceManager("READY=1")
            log.debug("ready as \(connection.uniqueName)")
        } catch let error as ConfigurationError {
            fail("\(error)", status: EX_CONFIG)
        } catch let error as DBusError {
            fail(error.message)
        } catch {
            fail("\(error)")
        }
    }

    private func openBus() async throws -> Connection {
        do {
            return try await Connection.open(options.bus)
        } catch let error as DBusError {
            throw DBusError(error.name, "cannot connect to the bus: \(error.message)")
        }
    }

    private func loadConfiguration() throws(ConfigurationError) -> Configuration {
        var configuration = try Configuration.load(
            path: options.configurationPath ?? Configuration.defaultPath,
            isRequired: options.configurationPath != nil
        )
        if !options.sources.isEmpty { configuration.sources = options.sources }
        return configuration
    }

    /// A folder that is named has to be one that can be written: nobody shall learn only later that
    /// nothing was kept.
    private func checkState() throws {
        guard let path = options.statePath else { return }
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw SystemError(operation: "make the folder of --state, \(path)")
        }
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR,
            access(path, W_OK | X_OK) == 0
        else {
            throw SystemError(
                code: information.st_mode & S_IFMT == S_IFDIR ? EACCES : ENOTDIR,
                operation: "use the folder of --state, \(path)"
            )
        }
    }

    // MARK: Signals and the end

    private func received(_ signal: CInt) {
        if signal == SIGHUP {
            reload()
        } else {
            end()
        }
    }

    private func reload() {
        guard let service else { return }
        notifyServiceManager("RELOADING=1")
        do {
            service.apply(try loadConfiguration())
            log.info("the configuration was read again")
        } catch {
            log.error("\(error); the configuration that was read before still holds")
        }
        notifyServiceManager("READY=1")
    }

    private func fail(_ message: String, status: Int32 = EXIT_FAILURE) {
        log.error(message)
        self.status = status
        end()
    }

    private func end() {
        notifyServiceManager("STOPPING=1")
        service?.stop()
        connection?.close()
        EventLoop.shared.stop()
    }
}
