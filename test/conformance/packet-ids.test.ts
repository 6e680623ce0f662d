import { expect, test } from 'vitest'
import { streamOf } from '../support/people.ts'
import { ackPacket, publishPacket, type RawMqtt } from '../support/raw-mqtt.ts'
import type { Delivered } from '../support/raw-mqtt-reader.ts'
import { subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

const packetIdMax = 65_535

/** Messages that are on their way at once: the service takes as many of one client. */
const underWay = 2_000

/** Publishes readings with QoS 1 and the packet ids that follow on one, as a device does. */
async function publishReadings(
  device: RawMqtt,
  {
    topic,
    count,
    after,
  }: { readonly topic: string; readonly count: number; readonly after: number },
): Promise<void> {
  for (let sent = 0; sent < count; sent += underWay) {
    const numbers = Array.from(
      { length: Math.min(underWay, count - sent) },
      (_, index) => sent + index,
    )
    const ids = numbers.map((number) => ((after + number) % packetIdMax) + 1)
    device.send(...ids.map((packetId) => publishPacket({ topic, payload: '{}', qos: 1, packetId })))
    const answers = await device.take(ids.length)
    expect(answers).toEqual(ids.map((packetId) => ({ type: 'puback', packetId })))
  }
}

/** Acknowledges what comes, but for the first few; resolves with the packet ids of all of it. */
async function takeReadings(subscriber: RawMqtt, count: number, held: number): Promise<number[]> {
  const ids: number[] = []
  while (ids.length < count) {
    const { packetId } = (await subscriber.next()) as Delivered
    ids.push(packetId)
    if (ids.length > held) subscriber.send(ackPacket('puback', packetId))
  }
  return ids
}

test('[MQTT-2.3.1-4] packet ids of both sides begin anew, and those in use are left out', async () => {
  const stream = await streamOf(broker.person)
  const [device, subscriber] = [await broker.connect(), await broker.connect()]
  const topic = `streams/${stream}/data`
  await subscribe(subscriber, [topic, 1])
  const [count, held] = [packetIdMax + 100, 3]

  const taking = takeReadings(subscriber, count, held)
  await publishReadings(device, { topic, count, after: packetIdMax - 50 })
  const ids = await taking

  const inUse = new Set(ids.slice(0, held))
  const later = ids.slice(held)
  expect(inUse.size).toBe(held)
  expect(later.filter((packetId) => inUse.has(packetId))).toEqual([])
  expect(Math.max(...ids.slice(0, packetIdMax))).toBe(packetIdMax)
  // After 65,535 distinct ones without those in use, the first come again, in order.
  expect(ids.slice(packetIdMax)).toEqual(ids.slice(held, held + 100))
})
