import { afterAll, beforeEach } from 'vitest'
import { answering, Receiver } from './receiver.ts'

/**
 * A receiver for the tests of one file: before each of them it has received nothing, and answers 200.
 *
 * @param before what ends whatever the test before has begun
 */
export async function testReceiver(
  before: () => Promise<void> = async () => undefined,
): Promise<Receiver> {
  const receiver = await Receiver.start()
  beforeEach(async () => {
    await before()
    receiver.received.length = 0
    receiver.behaviour = answering(200)
  })
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]()
  })
  return receiver
}
