import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { fetchedMessage } from './deliveries.ts'
import type { AmqpOptions } from './options.ts'
import type { AmqpSession } from './session.ts'

/** Messages that are looked at. */
const messagesMax = 20

/**
 * The first messages of a queue of others, which goes on to hold them: they are not acknowledged, and go back to their
 * places with the connection. Where somebody consumes it, none is taken away
 * even for a moment: that would change their order for others.
 */
export async function lookInto(
  session: AmqpSession,
  options: AmqpOptions,
): Promise<readonly FetchedMessage[]> {
  const { channel } = session
  const { queue } = options
  const { messageCount, consumerCount } = await session.ask(channel.checkQueue(queue))
  const sample: FetchedMessage[] = []
  if (consumerCount > 0) return sample
  while (sample.length < Math.min(messageCount, messagesMax)) {
    const got = await session.ask(channel.get(queue))
    if (got === false) break
    sample.push(fetchedMessage(got, options))
    // What is too large is shown as far as it is kept.
    session.gate.takeCut()
  }
  return sample
}
