/** What a test needs of the protocol of SQL Server (MS-TDS) to be a server. */

const headerBytes = 8

const packetBytesMax = 4_096

export const messageTypes = {
  batch: 0x01,
  call: 0x03,
  result: 0x04,
  attention: 0x06,
  login: 0x10,
  prelogin: 0x12,
} as const

/** Types of columns, with what follows them (2.2.5.4, 2.2.5.5). */
export const types = {
  bigint: Buffer.from([0x26, 8]),
  bit: Buffer.from([0x68, 1]),
  decimal: Buffer.from([0x6a, 17, 38, 10]),
  datetime: Buffer.from([0x6f, 8]),
  datetime2: Buffer.from([0x2a, 7]),
  datetimeoffset: Buffer.from([0x2b, 7]),
  date: Buffer.from([0x28]),
  money: Buffer.from([0x6e, 8]),
  real: Buffer.from([0x6d, 4]),
  float: Buffer.from([0x6d, 8]),
  binary: Buffer.from([0xa5, 8_000 & 0xff, 8_000 >> 8]),
  text: Buffer.from([0xe7, 8_000 & 0xff, 8_000 >> 8, 0x09, 0x04, 0xd0, 0, 0x34]),
} as const

export interface Message {
  readonly type: number
  readonly body: Buffer
}

/** Takes whole messages out of what has come. */
export class MessageReader {
  #parts: Buffer[] = []
  #rest: Buffer = Buffer.alloc(0);

  *read(chunk: Buffer): Generator<Message> {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= headerBytes) {
      const length = this.#rest.readUInt16BE(2)
      if (this.#rest.length < length) return
      const [type = 0, status = 0] = this.#rest
      this.#parts.push(this.#rest.subarray(headerBytes, length))
      this.#rest = this.#rest.subarray(length)
      if ((status & 1) === 0) continue
      const body = Buffer.concat(this.#parts)
      this.#parts = []
      yield { type, body }
    }
  }
}

/** In packets, of which the last one says that it is. */
export function packets(body: Buffer): Buffer {
  const room = packetBytesMax - headerBytes
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += room) {
    const part = body.subarray(at, at + room)
    const header = Buffer.alloc(headerBytes)
    header[0] = messageTypes.result
    header[1] = at + room < body.length ? 0 : 1
    header.writeUInt16BE(part.length + headerBytes, 2)
    parts.push(header, part)
  }
  return Buffer.concat(parts)
}

/** Whether all is encrypted (2.2.6.5). */
export function prelogin(isEncrypted: boolean): Buffer {
  const options = Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff])
  return Buffer.concat([options, Buffer.from([15, 0, 0, 0, 0, 0, isEncrypted ? 1 : 2])])
}

/** Who wants in, with the password as it was before it was made unreadable (2.2.6.4). */
export function loginOf(body: Buffer): readonly [username: string, password: string] {
  const text = (at: number) => {
    const offset = body.readUInt16LE(at)
    return Buffer.from(body.subarray(offset, offset + body.readUInt16LE(at + 2) * 2))
  }
  const password = text(44).map((byte) => {
    const swapped = byte ^ 0xa5
    return ((swapped << 4) | (swapped >> 4)) & 0xff
  })
  return [text(40).toString('utf16le'), Buffer.from(password).toString('utf16le')]
}

/** Statement, declarations and values of a call of sp_executesql (2.2.6.6). */
export function callOf(body: Buffer): readonly (string | number)[] {
  const values: (string | number)[] = []
  let at = body.readUInt32LE(0) + 6
  while (at < body.length) {
    at += 1 + body.readUInt8(at) * 2 + 1
    const type = body[at]
    if (type === 0x6d) {
      values.push(body.readDoubleLE(at + 3))
      at += 11
      continue
    }
    const isLong = body.readUInt16LE(at + 1) === 0xffff
    at += 8
    const [text, end] = isLong ? longText(body, at + 8) : shortText(body, at)
    values.push(text)
    at = end
  }
  return values
}

function shortText(body: Buffer, at: number): readonly [string, number] {
  const end = at + 2 + body.readUInt16LE(at)
  return [body.toString('utf16le', at + 2, end), end]
}

function longText(body: Buffer, from: number): readonly [string, number] {
  let [text, at] = ['', from]
  for (let length = body.readUInt32LE(at); length > 0; length = body.readUInt32LE(at)) {
    text += body.toString('utf16le', at + 4, at + 4 + length)
    at += 4 + length
  }
  return [text, at + 4]
}

const number16 = (value: number) => Buffer.from([value & 0xff, value >> 8])
const number32 = (value: number) =>
  Buffer.concat([number16(value & 0xffff), number16(value >>> 16)])
const shortName = (text: string) => {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')])
}
const longName = (text: string) => {
  return Buffer.concat([number16(text.length), Buffer.from(text, 'utf16le')])
}

function token(type: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([type]), number16(body.length), body])
}

/** LOGINACK, for version 7.4 (2.2.7.14). */
export function loginAck(): Buffer {
  const version = Buffer.from([1, 0x74, 0, 0, 4])
  return token(0xad, version, shortName('simulator'), Buffer.from([15, 0, 0, 0]))
}

/** ENVCHANGE that sends a client on to another server (2.2.7.9). */
export function routing(host: string, port: number): Buffer {
  const route = Buffer.concat([Buffer.from([0]), number16(port), longName(host)])
  return token(0xe3, Buffer.from([20]), number16(route.length), route, number16(0))
}

/** ERROR (2.2.7.10). */
export function failure(number: number, severity: number, message: string): Buffer {
  const names = [longName(message), shortName('simulator'), shortName('')]
  return token(0xaa, number32(number), Buffer.from([1, severity]), ...names, number32(1))
}

/** DONE (2.2.7.6). */
export function done(status = 0): Buffer {
  return Buffer.concat([Buffer.from([0xfd]), number16(status), Buffer.alloc(10)])
}

/** COLMETADATA (2.2.7.4). */
export function columns(list: readonly { readonly name: string; readonly type: Buffer }[]): Buffer {
  const parts = list.map(({ name, type }) => [Buffer.alloc(6), type, shortName(name)])
  return Buffer.concat([Buffer.from([0x81]), number16(list.length), ...parts.flat()])
}

/** ROW (2.2.7.19). */
export function row(values: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([0xd1]), ...values])
}

/** What has one byte of length before it. */
export function shortValue(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

/** What has two bytes of length before it. */
export function longValue(bytes: Buffer): Buffer {
  return Buffer.concat([number16(bytes.length), bytes])
}
