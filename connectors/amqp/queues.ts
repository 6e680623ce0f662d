import type { AmqpOptions, Binding, Subscription } from './options.ts'
import type { AmqpSession } from './session.ts'

/** Code of RabbitMQ for the refusal to delete a queue that is in use. */
const preconditionFailed = 406

/** Sees to it that there is the queue. @throws AmqpError of the server, when it cannot be had */
export async function prepareQueue(session: AmqpSession, options: AmqpOptions): Promise<void> {
  const { channel } = session
  const { queue, queueType, subscription } = options
  if (subscription === undefined) {
    await session.ask(channel.checkQueue(queue))
    return
  }
  await session.ask(channel.checkExchange(subscription.exchange))
  const type = queueType === undefined ? {} : { arguments: { 'x-queue-type': queueType } }
  await session.ask(channel.assertQueue(queue, { durable: true, ...type }))
  await bind(session, queue, subscription)
}

/** A queue of this connection alone, which the server deletes with it. */
export async function temporaryQueue(
  session: AmqpSession,
  subscription: Subscription,
): Promise<string> {
  const { channel } = session
  await session.ask(channel.checkExchange(subscription.exchange))
  const declared = channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false })
  const { queue } = await session.ask(declared)
  await bind(session, queue, subscription)
  return queue
}

async function bind(
  session: AmqpSession,
  queue: string,
  { exchange, bindings }: { readonly exchange: string; readonly bindings: readonly Binding[] },
): Promise<void> {
  const { channel } = session
  for (const binding of bindings) {
    const { routingKey, arguments: more } = binding
    await session.ask(channel.bindQueue(queue, exchange, routingKey, more))
  }
}

/** Deletes a queue of ours, with all that is in it. One that is named, and has other consumers, is theirs now. */
export async function deleteQueue(
  session: AmqpSession,
  { queue, subscription }: AmqpOptions,
): Promise<void> {
  const ifUnused = subscription?.isNamed === true
  try {
    await session.ask(session.channel.deleteQueue(queue, { ifUnused }))
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (!ifUnused || code !== preconditionFailed) throw error
  }
}
