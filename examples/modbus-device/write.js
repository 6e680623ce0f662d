/**
 * Writes a holding register of a device, as an operator at the controller does:
 *
 *   node examples/modbus-device/write.js ADDRESS VALUE
 *
 * PLC is the address of the device. Streamvault itself never writes.
 */
import Modbus from 'modbus-serial'

const { hostname, port } = new URL(`modbus://${process.env['PLC'] ?? '127.0.0.1:5020'}`)
const [address, value] = process.argv.slice(2).map(Number)

const client = new Modbus()
try {
  await client.connectTCP(hostname, { port: Number(port || 502) })
  client.setID(1)
  await client.writeRegister(address, value)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  client.close()
}
