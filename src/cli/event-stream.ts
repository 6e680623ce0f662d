import type { IncomingMessage } from 'node:http'

/** One event of a tail, or only a position. */
export interface StreamEvent {
  readonly type: string
  readonly position: string | undefined
  /** JSON; undefined where there is only a position. */
  readonly data: string | undefined
}

/** Longest event that is taken in: far longer than a reading can be. */
const eventLengthMax = 64 * 1024 * 1024

/**
 * The events of a stream of Server-Sent Events, as they come; ends when the connection does.
 * Our service sends each field once and data in one line.
 *
 * @throws Error when nothing comes for so long: a connection can be gone without a notification
 */
export async function* eventsOf(
  incoming: IncomingMessage,
  silenceMsMax: number,
): AsyncGenerator<StreamEvent> {
  let rest = ''
  incoming.setTimeout(silenceMsMax, () => {
    incoming.destroy(new Error(`nothing has come for ${silenceMsMax / 1_000} s`))
  })
  incoming.setEncoding('utf8')
  for await (const chunk of incoming as AsyncIterable<string>) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > eventLengthMax) throw new Error('an event without an end')
    for (const block of blocks) yield eventOf(block)
  }
}

function eventOf(block: string): StreamEvent {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? []
    fields.set(name, value)
  }
  return {
    type: fields.get('event') ?? 'reading',
    position: fields.get('id'),
    data: fields.get('data'),
  }
}
