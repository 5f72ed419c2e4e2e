// SPDX-License-Identifier: Apache-2.0

/// The answer to `Introspect`, as the specification lays it down.
enum IntrospectionXML {
    /// The description of an object.
    ///
    /// - Parameters:
    ///   - interfaces: What it can do besides the standard interfaces.
    ///   - children: The names of the nodes below it.
    /// - Returns: A document of XML.
    static func document(interfaces: [Interface], children: [Substring]) -> String {
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for interface in interfaces { append(interface, to: &xml) }
        if !interfaces.isEmpty { xml += standardInterfaces }
        for child in children { xml += "  <node name=\"\(child)\"/>\n" }
        return xml + "</node>\n"
    }

    // Names and signatures need no escaping: their grammars know no special character of XML.
    private static func append(_ interface: Interface, to xml: inout String) {
        xml += "  <interface name=\"\(interface.name)\">\n"
        for method in interface.methods {
            xml += "    <method name=\"\(method.name)\">\n"
            for argument in method.inputs { xml += element(argument, direction: "in") }
            for argument in method.outputs { xml += element(argument, direction: "out") }
            xml += "    </method>\n"
        }
        for signal in interface.signals {
            xml += "    <signal name=\"\(signal.name)\">\n"
            for argument in signal.arguments { xml += element(argument, direction: nil) }
            xml += "    </signal>\n"
        }
        for property in interface.properties {
            let access = property.set == nil ? "read" : "readwrite"
            xml += """
                    <property name="\(property.name)" type="\(property.signature)" \
                access="\(access)">
                      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" \
                value="\(property.notice.rawValue)"/>
                    </property>

                """
        }
        xml += "  </interface>\n"
    }

    private static func element(_ argument: Argument, direction: String?) -> String {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return "      <arg name=\"\(argument.name)\" type=\"\(argument.signature)\"\(direction)/>\n"
    }

    private static let standardInterfaces = """
          <interface name="org.freedesktop.DBus.Properties">
            <method name="Get">
              <arg name="interface_name" type="s" direction="in"/>
              <arg name="property_name" type="s" direction="in"/>
              <arg name="value" type="v" direction="out"/>
            </method>
            <method name="GetAll">
              <arg name="interface_name" type="s" direction="in"/>
              <arg name="properties" type="a{sv}" direction="out"/>
            </method>
            <method name="Set">
              <arg name="interface_name" type="s" direction="in"/>
              <arg name="property_name" type="s" direction="in"/>
              <arg name="value" type="v" direction="in"/>
            </method>
            <signal name="PropertiesChanged">
              <arg name="interface_name" type="s"/>
              <arg name="changed_properties" type="a{sv}"/>
              <arg name="invalidated_properties" type="as"/>
            </signal>
          </interface>
          <interface name="org.freedesktop.DBus.Introspectable">
            <method name="Introspect">
              <arg name="xml_data" type="s" direction="out"/>
            </method>
          </interface>
          <interface name="org.freedesktop.DBus.Peer">
            <method name="Ping"/>
            <method name="GetMachineId">
              <arg name="machine_uuid" type="s" direction="out"/>
            </method>
          </interface>

        """
}
