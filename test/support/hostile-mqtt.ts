import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { field, packet, packetTypes, u16 } from './mqtt-bytes.ts'
import { connectPacket, publishPacket, pubrelPacket, subscribePacket } from './mqtt-packets.ts'
import type { SeededRandom } from './seeded-random.ts'

/** Whose credentials an attacker has: being let in does not make anybody harmless. */
export interface Attacker {
  readonly username: string
  readonly password: string
  readonly userId: string
}

/** What is sent in one go: bytes, and how many packets they are meant to be. */
interface Volley {
  readonly bytes: Buffer
  readonly packets: number
}

const pingreq = Buffer.from([0xc0, 0])

/**
 * Sends hostile packets over several connections until there were so many: random bytes, mutations,
 * floods, too many and too deep filters, half packets, wills, huge client ids. The same seed sends the
 * same, as long as the service does. A connection that is closed comes again at once, and none reads.
 */
export async function attack(
  port: number,
  attacker: Attacker,
  { random, packets }: { readonly random: SeededRandom; readonly packets: number },
): Promise<number> {
  let sent = 0
  while (sent < packets) {
    const socket = await opened(port)
    const hello = helloOf(attacker, random)
    socket.write(hello)
    sent++
    const volleys = random.integer(1, 12)
    for (let volley = 0; volley < volleys && !socket.destroyed; volley++) {
      const { bytes, packets: count } = volleyOf(attacker, random)
      sent += count
      if (!socket.write(bytes)) await drained(socket)
      // Some wait to be let in, and for what becomes of it.
      if (random.chance(0.5)) await sleep(random.integer(1, 10))
    }
    if (random.chance(0.2)) socket.resetAndDestroy()
    else socket.end()
    leaveLater(socket)
  }
  return sent
}

/** A connection that was left stays for a while. */
function leaveLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), 500)
  socket.once('close', () => clearTimeout(timer))
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await Promise.race([once(socket, 'connect').catch(() => undefined), closed(socket)])
  return socket
}

async function drained(socket: Socket): Promise<void> {
  const drain = once(socket, 'drain').catch(() => undefined)
  await Promise.race([drain, closed(socket), sleep(200)])
}

async function closed(socket: Socket): Promise<void> {
  if (socket.destroyed) return
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
}

function helloOf({ username, password, userId }: Attacker, random: SeededRandom): Buffer {
  const will = { topic: `users/${userId}/will`, payload: 'x'.repeat(random.integer(0, 50_000)) }
  const clientId = random.chance(0.1) ? 'x'.repeat(40_000) : `hostile-${random.integer(1, 20)}`
  const isClean = random.chance(0.6)
  const hello = random.chance(0.3)
    ? connectPacket({ clientId, isClean, username, password, will })
    : connectPacket({ clientId, isClean, username, password })
  return random.chance(0.1) ? mutated(hello, random) : hello
}

function volleyOf({ userId }: Attacker, random: SeededRandom): Volley {
  const space = `users/${userId}`
  const packetId = random.integer(1, 65_535)
  switch (random.integer(0, 11)) {
    case 0:
      return { bytes: randomBytes(random, random.integer(1, 3_000)), packets: 1 }
    case 1: {
      const count = random.integer(50, 400)
      return { bytes: Buffer.alloc(count * 2, pingreq), packets: count }
    }
    case 2: {
      const of = (index: number) => `${space}/${index}/${random.integer(0, 9)}`
      return one(subscribeOf(packetId, filtersOf(random.integer(50, 3_000), of)))
    }
    case 3: {
      const deep = (index: number) => `${space}/${'+/'.repeat(random.integer(1, 40))}${index}`
      return one(subscribeOf(packetId, filtersOf(random.integer(1, 120), deep)))
    }
    case 4: {
      const topic = `${space}/${'a/'.repeat(random.integer(1, 20))}b`
      return many(random.integer(1, 100), (index) =>
        publishPacket({ topic, payload: 'x', packetId: index + 1, qos: 0 }),
      )
    }
    case 5:
      return one(
        publishPacket({
          topic: `${space}/large`,
          payload: 'x'.repeat(random.integer(1, 500_000)),
          packetId,
        }),
      )
    case 6:
      return one(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0x61]))
    case 7:
      return many(random.integer(1, 200), (index) =>
        publishPacket({ topic: `${space}/exact`, payload: 'x', packetId: index + 1, qos: 2 }),
      )
    case 8:
      return many(random.integer(1, 200), (index) => pubrelPacket(index + 1))
    case 9:
      return many(random.integer(1, 200), (index) =>
        packet([4, 5, 7][index % 3] as number, 0, u16(random.integer(1, 65_535))),
      )
    case 10: {
      const whole = publishPacket({ topic: `${space}/half`, payload: 'x'.repeat(30_000), packetId })
      return one(whole.subarray(0, random.integer(1, whole.length - 1)))
    }
    default:
      return one(mutated(subscribePacket(packetId, `${space}/#`), random))
  }
}

function one(bytes: Buffer): Volley {
  return { bytes, packets: 1 }
}

function many(count: number, of: (index: number) => Buffer): Volley {
  return {
    bytes: Buffer.concat(Array.from({ length: count }, (_, index) => of(index))),
    packets: count,
  }
}

function filtersOf(count: number, of: (index: number) => string): Buffer[] {
  return Array.from({ length: count }, (_, index) => [
    field(of(index)),
    Buffer.from([index % 3]),
  ]).flat()
}

function subscribeOf(packetId: number, filters: readonly Buffer[]): Buffer {
  return packet(packetTypes.subscribe, 2, u16(packetId), ...filters)
}

function randomBytes(random: SeededRandom, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)))
}

function mutated(bytes: Buffer, random: SeededRandom): Buffer {
  const changed = Buffer.from(bytes)
  for (let times = random.integer(1, 3); times > 0; times--) {
    changed[random.integer(0, changed.length - 1)] = random.integer(0, 255)
  }
  return changed
}
