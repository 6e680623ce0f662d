import type { EventSourceParser } from 'eventsource-parser'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { messageOf } from '../api-pull/portions.ts'
import type { Arrival } from './arrivals.ts'

/** Characters of one event, and of one line. */
const eventLengthMax = 4 * 1024 * 1024

/** Longer ids are not kept: they have to fit into a header. */
const idLengthMax = 2_000

/** Names of types are shorter (`eventTypes`); a longer one is none of them. */
const typeLengthMax = 500

/** What an event is called that has no name (WHATWG HTML, section 9.2.6). */
const unnamed = 'message'

interface EventTextNeeds {
  /** Where events come from, for a person. */
  readonly source: string
  readonly onRetry: (ms: number) => void
}

/** Reads an event stream: WHATWG HTML, sections 9.2.5 and 9.2.6. */
export class EventText {
  readonly #needs: EventTextNeeds
  readonly #parser: EventSourceParser
  /**
   * Decodes all but a byte order mark, of which the parser takes care. What is no UTF-8 is
   * replaced, as WHATWG HTML says.
   */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #found: Arrival[] = []
  #failure: Error | undefined

  static async begin(needs: EventTextNeeds): Promise<EventText> {
    // Loaded when it is needed: most services follow no such stream.
    const { createParser } = await import('eventsource-parser')
    return new EventText(needs, createParser)
  }

  private constructor(
    needs: EventTextNeeds,
    createParser: typeof import('eventsource-parser').createParser,
  ) {
    this.#needs = needs
    this.#parser = createParser({
      maxBufferSize: eventLengthMax,
      onId: (id) => this.#reach(id),
      onEvent: ({ event = unnamed, data }) => this.#take(event, data),
      onRetry: needs.onRetry,
      onError: ({ type }) => {
        if (type !== 'max-buffer-size-exceeded') return
        const most = eventLengthMax / 1024 / 1024
        this.#failure = new SourceRefused(`an event is longer than ${most} Mi characters`)
      },
    })
  }

  /** The events that end in these bytes. @throws SourceRefused when one is too long */
  read(bytes: Uint8Array): readonly Arrival[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }))
    if (this.#failure !== undefined) throw this.#failure
    const found = this.#found
    this.#found = []
    return found
  }

  /** Called before the event that has the id, if there is one. An empty id says that there is none any more. */
  #reach(id: string): void {
    if (id.length > idLengthMax || !isSendable(id)) return
    this.#found.push({ position: { lastEventId: id } })
  }

  /** Takes an event; one without data says no more than that somebody is there. */
  #take(event: string, data: string): void {
    if (data === '') return
    const eventType = event.slice(0, typeLengthMax)
    const message = { ...messageOf(Buffer.from(data), this.#needs.source), eventType }
    const isAfterId = this.#found.at(-1)?.message === undefined
    // A position must not be kept without the event that it stands behind.
    const position = isAfterId ? this.#found.pop()?.position : undefined
    this.#found.push({ message, position })
  }
}

/** What can stand in a header, as UTF-8: no control characters (RFC 9110, section 5.5). */
function isSendable(id: string): boolean {
  return !/[\p{Cc}]/u.test(id.replaceAll('\t', ''))
}
