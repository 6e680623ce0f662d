import { ServerTCP } from 'modbus-serial'

/** A device that the example of docs/modbus.md can be tried with: `node modbus-device.ts PORT`. */

const port = Number(process.argv[2])

/** An air handling unit: its model is text, and its energy a float32 with the lower word first. */
const energy = Buffer.alloc(4)
energy.writeFloatBE(1_234.5)
const model = Buffer.from('AHU-3000'.padEnd(12, '\0'))

const input = new Map([
  [0, 215],
  [10, energy.readUInt16BE(2)],
  [11, energy.readUInt16BE(0)],
])
const holding = new Map([[200, 0b0100]])
for (let at = 0; at < model.length; at += 2) holding.set(100 + at / 2, model.readUInt16BE(at))

/** @throws Error with the exception code of an address that there is not */
function valueAt(table: ReadonlyMap<number, number>, address: number): number {
  const value = table.get(address)
  if (value !== undefined) return value
  throw Object.assign(new Error(`there is nothing at ${address}`), { modbusErrorCode: 2 })
}

const server = new ServerTCP(
  {
    getCoil: (address: number) => valueAt(new Map([[0, 1]]), address) === 1,
    getInputRegister: (address: number) => valueAt(input, address),
    getHoldingRegister: (address: number) => valueAt(holding, address),
  },
  { host: '127.0.0.1', port },
)
server.on('serverError', (error) => {
  throw error ?? new Error('the device cannot listen')
})
server.on('initialized', () => console.log(`listening at modbus://127.0.0.1:${port}`))
