import { afterEach, describe } from 'vitest'
import { bacnetPoll } from '../../connectors/bacnet/bacnet-poll.ts'
import { scheduled } from '../../src/streams/sources/schedules/scheduled-source.ts'
import { polledStateContract, rarely } from '../contracts/polled-state-contract.ts'
import { BacnetDevice, tags } from '../support/bacnet-device.ts'

const devices: BacnetDevice[] = []

afterEach(async () => {
  for (const device of devices.splice(0)) await device[Symbol.asyncDispose]()
})

describe('a device of BACnet that is asked', () => {
  polledStateContract(async () => {
    const device = await BacnetDevice.start()
    devices.push(device)
    const set = (number: number) => device.set('2:7:85', tags.REAL, number)
    set(0)
    const objects = [{ field: 'number', object: 'analog-value:7' }]
    return {
      connector: scheduled(bacnetPoll()),
      source: { protocol: 'bacnet', endpoint: device.endpoint, objects, schedule: rarely },
      ports: [device.port],
      set,
      stop: () => device.stop(),
      start: () => device.start(),
    }
  })
})
