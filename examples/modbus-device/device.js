/**
 * A heating controller that speaks Modbus TCP, to try a definition without a device:
 *
 *   node examples/modbus-device/device.js
 *
 * PLC is the address that it listens at. It answers any unit id. The supply temperature is the set point at once, so that
 * `write.js` moves it.
 *
 *   manual  kind     address  type                        value
 *   00001   coil     0        bool                        the pump runs
 *   30001   input    0        int16, tenths               supply temperature, degC
 *   30002   input    1        int16, tenths               return temperature, degC
 *   30003   input    2        uint16, hundredths          pressure, bar
 *   30011   input    10, 11   float32, lower word first   energy, kWh
 *   40001   holding  0        int16, tenths               set point of the supply temperature, degC
 */
import { ServerTCP } from 'modbus-serial'

const { hostname, port } = new URL(`modbus://${process.env['PLC'] ?? '127.0.0.1:5020'}`)

/** The exception code of an address that the device does not have. */
const illegalDataAddress = 2

const energy = Buffer.alloc(4)
energy.writeFloatBE(1_234.5)

const coils = new Map([[0, true]])
const holding = new Map([[0, 682]])
const input = () =>
  new Map([
    [0, holding.get(0)],
    [1, 514],
    [2, 182],
    [10, energy.readUInt16BE(2)],
    [11, energy.readUInt16BE(0)],
  ])

/** @throws Error with the exception code when there is nothing at the address */
function valueAt(table, address) {
  if (table.has(address)) return table.get(address)
  const error = new Error(`nothing is at the address ${address}`)
  throw Object.assign(error, { modbusErrorCode: illegalDataAddress })
}

const server = new ServerTCP(
  {
    getCoil: (address) => valueAt(coils, address),
    getInputRegister: (address) => valueAt(input(), address),
    getHoldingRegister: (address) => valueAt(holding, address),
    setRegister(address, value) {
      valueAt(holding, address)
      holding.set(address, value)
    },
  },
  { host: hostname, port: Number(port || 502) },
)
server.on('serverError', (error) => {
  console.error(`The device cannot listen at ${hostname}:${port}: ${error?.message}`)
  process.exit(1)
})
server.on('initialized', () => console.log(`The heating controller listens at ${hostname}:${port}`))
