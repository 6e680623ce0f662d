import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { InboundWebhook } from '../../support/inbound-webhook.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'
import { senders } from '../../support/webhook-senders.ts'

const services = startedServices()

/** Requests of the sender at a time: fewer than the ids that are known after a crash. */
const connections = 40

/** Four lives with so many answers are not all of the messages. */
const answersOfLifeMax = 1_200

/** What is sent again after each crash, as who has heard of no answer does it. */
async function sendUntilEnded(
  hook: InboundWebhook,
  numbers: number[],
  onAnswer: () => void = () => undefined,
): Promise<void> {
  const one = async () => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      try {
        const { status } = await hook.send({ id: `message-${number}`, body: { number } })
        expect(status).toBe(202)
        onAnswer()
      } catch (error) {
        numbers.unshift(number)
        if (!(error instanceof TypeError)) throw error
        return
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
}

// Their readings have no time of their own: only the id tells that a message was there before.
test('messages are stored once each when the service is killed while they come', async () => {
  const dataDir = services.newFolder()
  const random = new SeededRandom(20_261_123)
  let process = await services.start(dataDir)
  const schema = { number: { type: 'integer' } }
  const hook = await InboundWebhook.open(
    new ApiClient(process.http),
    senders['standard-webhooks'],
    { schema },
  )
  const count = 6_000
  const numbers = Array.from({ length: count }, (_, number) => number)

  for (let life = 0; life < 4; life++) {
    let answersLeft = random.integer(1, answersOfLifeMax)
    const enough = Promise.withResolvers<void>()
    const sending = sendUntilEnded(hook, numbers, () => {
      if (--answersLeft === 0) enough.resolve()
    })
    await Promise.race([enough.promise, sending])
    await process.end('SIGKILL')
    await sending
    process = await services.start(dataDir)
    hook.reachedBy(new ApiClient(process.http))
  }
  expect(numbers.length).toBeGreaterThan(0)
  await sendUntilEnded(hook, numbers)

  const api = new ApiClient(process.http)
  expect(await api.settled(hook.streamId, count)).toMatchObject({
    received: count,
    stored: count,
  })
  const stored = (await api.readAll(hook.streamId)).map(({ number }) => number)
  expect(new Set(stored).size).toBe(count)
})
