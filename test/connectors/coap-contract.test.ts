import { afterEach, describe } from 'vitest'
import { coap } from '../../connectors/coap/coap.ts'
import { connectorContract } from '../contracts/connector-contract.ts'
import { CoapDevice } from '../support/coap-device.ts'

const devices: CoapDevice[] = []

afterEach(async () => {
  for (const device of devices.splice(0)) await device[Symbol.asyncDispose]()
})

describe('a device that is observed over CoAP', () => {
  connectorContract({
    peer: async () => {
      const device = await CoapDevice.start()
      devices.push(device)
      return {
        connector: coap,
        source: device.source,
        ports: [device.port],
        publish: (payloads) => device.publish(payloads),
        stop: () => device.stop(),
        start: () => device.start(),
      }
    },
    // The device sends the next one when the one before was acknowledged.
    unacknowledgedMax: 1,
  })
})
