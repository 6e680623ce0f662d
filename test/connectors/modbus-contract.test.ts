import { afterEach, describe } from 'vitest'
import { modbusPoll } from '../../connectors/modbus/modbus-poll.ts'
import { scheduled } from '../../src/streams/sources/schedules/scheduled-source.ts'
import { polledStateContract, rarely } from '../contracts/polled-state-contract.ts'
import { ModbusDevice } from '../support/modbus-device.ts'

const devices: ModbusDevice[] = []

afterEach(async () => {
  for (const device of devices.splice(0)) await device[Symbol.asyncDispose]()
})

describe('a device of Modbus that is asked', () => {
  polledStateContract(async () => {
    const device = await ModbusDevice.start()
    devices.push(device)
    device.set('holding', 7, [0])
    const registers = [{ field: 'number', address: 7 }]
    return {
      connector: scheduled(modbusPoll()),
      source: { protocol: 'modbus', endpoint: device.endpoint, registers, schedule: rarely },
      ports: [device.port],
      set: (number) => device.set('holding', 7, [number]),
      stop: () => device.stop(),
      start: () => device.start(),
    }
  })
})
