const HEAD_END = Buffer.from('\r\n\r\n')
const SNIPPET_BYTES = 200

export type HttpResponse = {
  status: number
  /** The first bytes of the body, for an error message. */
  snippet: string
}

/**
 * Splits a byte stream into HTTP/1.1 responses, wherever the chunks are cut. Throws on a body
 * whose length is not announced: a generator that guessed would measure nonsense.
 */
export class HttpResponseReader {
  readonly #onResponse: (response: HttpResponse) => void
  #carry: Buffer = Buffer.alloc(0)
  #pending: HttpResponse | undefined
  #bodyLeft = 0

  constructor(onResponse: (response: HttpResponse) => void) {
    this.#onResponse = onResponse
  }

  push(chunk: Buffer): void {
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk])
    let at = 0
    while (at < bytes.length || this.#pending !== undefined) {
      if (this.#pending === undefined) {
        const headEnd = bytes.indexOf(HEAD_END, at)
        if (headEnd < 0) break
        this.#readHead(bytes.toString('latin1', at, headEnd + 2))
        at = headEnd + HEAD_END.length
      } else {
        const end = Math.min(bytes.length, at + this.#bodyLeft)
        const room = SNIPPET_BYTES - this.#pending.snippet.length
        const snippetEnd = Math.min(end, at + Math.max(room, 0))
        this.#pending.snippet += bytes.toString('latin1', at, snippetEnd)
        this.#bodyLeft -= end - at
        at = end
        if (this.#bodyLeft > 0) break
        const response = this.#pending
        this.#pending = undefined
        this.#onResponse(response)
      }
    }
    // A copy, because the chunk's memory is used again for the next read.
    this.#carry = Buffer.from(bytes.subarray(at))
  }

  #readHead(head: string): void {
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) throw new Error(`not an HTTP/1 response: ${head.slice(0, 80)}`)
    if (status < 200) return
    if (/\r\ntransfer-encoding:/i.test(head)) {
      throw new Error('response without content-length: transfer-encoding is not supported')
    }
    const length = /\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n/i.exec(head)?.[1]
    const hasNoBody = status === 204 || status === 304
    if (length === undefined && !hasNoBody) throw new Error('response without content-length')
    this.#bodyLeft = hasNoBody ? 0 : Number(length)
    this.#pending = { status, snippet: '' }
  }
}
