import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { TestCertificate } from './certificate.ts'
import { MessageReader, messageTypes, packets } from './tds-messages.ts'

/** TLS as SQL Server has it: what belongs to the handshake goes in packets, and nothing after it (MS-TDS 3.3.5.1). */
export function encrypted(socket: Socket, { certPath, keyPath }: TestCertificate): TLSSocket {
  const [near, far] = duplexPair()
  const reader = new MessageReader()
  let isShaken = false
  socket.on('data', (chunk: Buffer) => {
    isShaken ||= chunk[0] !== messageTypes.prelogin
    if (isShaken) near.write(chunk)
    else for (const { body } of reader.read(chunk)) near.write(body)
  })
  let waiting: Buffer[] = []
  near.on('data', (chunk: Buffer) => {
    if (isShaken) {
      socket.write(chunk)
      return
    }
    waiting.push(chunk)
    // Each message is answered by one.
    if (waiting.length > 1) return
    setImmediate(() => {
      socket.write(packets(Buffer.concat(waiting)))
      waiting = []
    })
  })
  const clear = new TLSSocket(far, {
    isServer: true,
    cert: readFileSync(certPath),
    key: readFileSync(keyPath),
    maxVersion: 'TLSv1.2',
  })
  clear.on('error', () => socket.destroy())
  return clear
}
