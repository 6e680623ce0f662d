import { afterEach, describe, expect, test } from 'vitest'
import type { AlertBody } from '../support/alerting.ts'
import { BacnetDevice, tags } from '../support/bacnet-device.ts'
import { ModbusDevice } from '../support/modbus-device.ts'
import { runningService } from '../support/running-service.ts'
import { bacnetAirHandler } from './bacnet-air-handler.ts'
import { followRecipe, type OpenFront } from './followed-recipe.ts'
import { recipes } from './index.ts'
import type { SentMessage } from './recipe.ts'
import { type RecipeDefinition, recipePage } from './recipe-page.ts'

/** Recipes of machines that are asked for what they measure now. */

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.1:1024-65535' })

/** Once a year: a round is run when a test says so. */
const rarely = '0 0 1 1 *'

const devices: AsyncDisposable[] = []

afterEach(async () => {
  for (const device of devices.splice(0)) await device[Symbol.asyncDispose]()
})

interface Asked {
  readonly endpoint: string
  /** Requests so far, or more than that. */
  readonly asked: readonly unknown[]
  /** Open connections; a round is over when there are none. */
  readonly connections?: number
}

/** A stream that asks a device for each message, after the device has what the message says. */
async function asking(
  { schema, ...rest }: RecipeDefinition,
  device: Asked,
  set: (message: SentMessage) => void,
): Promise<OpenFront> {
  const source = { ...rest.source, endpoint: device.endpoint, schedule: rarely }
  const streamId = await service.api.createStream(schema, { ...rest, source })
  const run = async () =>
    (await service.api.withToken('POST', `/streams/${streamId}/source/run`)).status
  return {
    streamId,
    async send(messages) {
      for (const message of messages) {
        set(message)
        const before = device.asked.length
        const isOver = () => device.asked.length > before && (device.connections ?? 0) === 0
        await expect.poll(run).toBe(202)
        await expect.poll(isOver, { interval: 5 }).toBe(true)
      }
    },
  }
}

/** `input 52: 4489 6000`: a table, the first register, and what it and the next ones hold. */
async function fromModbus(definition: RecipeDefinition): Promise<OpenFront> {
  const device = await ModbusDevice.start()
  devices.push(device)
  return await asking(definition, device, ({ payload }) => {
    for (const [, address, words = ''] of payload.matchAll(/^input (\d+): ([\da-f ]+)$/gm)) {
      const values = words.split(' ').map((word) => Number.parseInt(word, 16))
      device.set('input', Number(address), values)
    }
  })
}

/** Numbers of the standard. */
const objectTypes: Readonly<Record<string, number>> = {
  'analog-input': 0,
  'analog-output': 1,
  'analog-value': 2,
  'binary-input': 3,
  'multi-state-value': 19,
}
const properties: Readonly<Record<string, number>> = { 'present-value': 85, reliability: 103 }

/** `analog-input:1 present-value REAL 17.5`: an object, a property, and its value. */
async function fromBacnet(definition: RecipeDefinition): Promise<OpenFront> {
  const device = await BacnetDevice.start()
  devices.push(device)
  return await asking(definition, device, ({ payload }) => {
    for (const line of payload.split('\n')) {
      const [object = '', property = '', tag = '', value] = line.split(' ')
      const [type = '', instance] = object.split(':')
      const place = `${Number(objectTypes[type])}:${Number(instance)}:${Number(properties[property])}`
      device.set(place as Parameters<BacnetDevice['set']>[0], tagOf(tag), Number(value))
    }
  })
}

function tagOf(name: string): number {
  const tag = (tags as unknown as Readonly<Record<string, number>>)[name]
  if (tag === undefined) throw new Error(`BACnet has no type ${name}`)
  return tag
}

describe('asked over Modbus', () => {
  test.each(recipes.filter(({ front }) => front === 'modbus'))('$name', async (recipe) => {
    await followRecipe(service.api, recipe, fromModbus)
  })
})

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 31, 10, minutes)).toISOString()

describe('asked over BACnet', () => {
  test.each(recipes.filter(({ front }) => front === 'bacnet'))('$name', async (recipe) => {
    await followRecipe(service.api, recipe, fromBacnet)
  })

  test('an air handler raises the alerts that its page names', async () => {
    const { schema, processing } = recipePage(bacnetAirHandler).definition
    const streamId = await service.api.createStream(schema, { processing })
    const whole = { supply: 18, supply_fault: 0, return: 22, setpoint: 18, valve: 40, mode: 1 }
    for (const reading of [
      { timestamp: at(0), ...whole, fan: true, supply: 21.5 },
      { timestamp: at(14), ...whole, fan: true, supply: 21.5, supply_fault: 4 },
      { timestamp: at(15), ...whole, fan: true, supply: 21.5 },
      { timestamp: at(16), ...whole, fan: false },
      { timestamp: at(21), ...whole, fan: false },
    ]) {
      await service.api.withToken('POST', `/streams/${streamId}/data`, reading)
    }

    const raised = async () => {
      const { body } = await service.api.withToken<readonly AlertBody[]>(
        'GET',
        `/alerts?streamId=${streamId}`,
      )
      return Object.fromEntries(body.map(({ ruleId, triggeredAt }) => [ruleId, triggeredAt]))
    }
    await expect.poll(raised).toEqual({
      'fan-off': '2026-01-31T10:21:00.000000Z',
      'off-setpoint': '2026-01-31T10:15:00.000000Z',
      'supply-sensor': '2026-01-31T10:14:00.000000Z',
    })
  })
})
