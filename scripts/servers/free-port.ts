import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Below those that an operating system hands out by itself (from 32,768 on Linux, from 49,152 on others): between the
 * choice of a port and its use a connection of anybody, or a server that is given any port, could else get it.
 */
const [portMin, portMax] = [10_000, 32_000]

/** Ports of one block: the first is the mark of the process that has it, the others are handed out. */
const blockSize = 50

/** Servers on the first ports of the blocks of this process. The system ends them with it, however it ends. */
const marks: Server[] = []

const own: number[] = []

/**
 * A port that nobody listens on, and that is given to nobody else while this process lives: tests run in several at
 * once, and servers are killed, and started again where they were.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = own.shift()
    if (port === undefined) await takeBlock()
    else if (await isFree(port)) return port
  }
}

async function takeBlock(): Promise<void> {
  for (;;) {
    const first = portMin + blockSize * randomInt((portMax - portMin) / blockSize)
    const mark = await listening(first)
    if (mark === undefined) continue
    marks.push(mark.unref())
    for (let port = first + 1; port < first + blockSize; port++) own.push(port)
    return
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening(port)
  if (server === undefined) return false
  server.close()
  await once(server, 'close')
  return true
}

async function listening(port: number): Promise<Server | undefined> {
  const server = createServer()
  const succeeds = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port, '127.0.0.1')
  return (await succeeds) ? server : undefined
}
