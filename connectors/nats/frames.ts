/** Characters of one line: one that names all servers of a large cluster is the longest. */
const lineBytesMax = 64 * 1024

/** Bytes of one message with its headers: what a server can be set up to allow at most. */
export const messageBytesMax = 64 * 1024 * 1024

const newline = 0x0a

/** What a server says that has no payload: the protocol of clients of NATS. */
const words = ['INFO', '+OK', '-ERR', 'PING', 'PONG']

/** A server has sent what is no NATS, or more than anybody takes. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault'
}

/**
 * Looks through what a server sends before the library reads it: the library keeps a line of any length, and stops to
 * read for good, with a word to the console, at what it does not understand.
 */
export class FrameCheck {
  /** The beginning of a line that is not complete. */
  #line = ''
  /** Bytes of a payload, with the end of its line, that are still to come. */
  #payload = 0

  /** @throws ServerFault */
  check(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#payload > 0) {
        const some = Math.min(this.#payload, chunk.length - at)
        this.#payload -= some
        at += some
        if (this.#payload === 0 && chunk[at - 1] !== newline) throw fault('a message without end')
        continue
      }
      const end = chunk.indexOf(newline, at)
      const line = this.#line + chunk.toString('latin1', at, end < 0 ? chunk.length : end)
      if (line.length > lineBytesMax) throw fault('a line that is too long')
      if (end < 0) {
        this.#line = line
        return
      }
      this.#line = ''
      this.#payload = payloadOf(line)
      at = end + 1
    }
  }
}

/** Bytes that follow a line. */
function payloadOf(line: string): number {
  const isMessage = line.startsWith('MSG ')
  if (isMessage || line.startsWith('HMSG ')) {
    const [, size, headers = '0'] = readSizes(line, isMessage) ?? []
    const bytes = Number(size)
    const isRight = size !== undefined && bytes <= messageBytesMax && Number(headers) <= bytes
    if (!isRight) throw fault('a message of no size')
    return bytes + 2
  }
  const [word = ''] = line.split(/[ \r]/, 1)
  if (!words.includes(word)) throw fault('what is not NATS')
  if (word === 'INFO') readInfo(line)
  return 0
}

/** `MSG subject sid [reply] size`, `HMSG subject sid [reply] headers size`. */
const messageLine = /^MSG [^ \r]+ \d{1,15} (?:[^ \r]+ )?(\d{1,9})\r$/
const headedLine = /^HMSG [^ \r]+ \d{1,15} (?:[^ \r]+ )?(\d{1,9}) (\d{1,9})\r$/

function readSizes(line: string, isMessage: boolean): readonly (string | undefined)[] | undefined {
  if (isMessage) return messageLine.exec(line) ?? undefined
  const [whole, headers, size] = headedLine.exec(line) ?? []
  return whole === undefined ? undefined : [whole, size, headers]
}

/** What a server says of itself, as far as it concerns us. */
export interface ServerGreeting {
  readonly version: string
  readonly headers?: boolean
  readonly tls_required?: boolean
  readonly tls_available?: boolean
  readonly jetstream?: boolean
}

/** @throws ServerFault */
export function readInfo(line: string): ServerGreeting {
  const [, json = ''] = /^INFO\s+(\{.*\})\s*$/s.exec(line) ?? []
  let info: unknown
  try {
    info = JSON.parse(json)
  } catch {
    throw fault('no NATS: it does not say what it is')
  }
  const { version } = info as Partial<ServerGreeting>
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+/.test(version)) {
    throw fault('no version of its own')
  }
  return info as ServerGreeting
}

function fault(what: string): ServerFault {
  return new ServerFault(`the server has sent ${what}`)
}
