import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'

/** Lines that were acknowledged, and how long that took. */
export interface LineLoadResult {
  readonly lines: number
  readonly seconds: number
  readonly refused: number
}

interface LineLoad {
  readonly port: number
  readonly path: string
  readonly authorization: string
  readonly bodies: number
  readonly lines: number
  readonly hosts: number
  readonly connections: number
}

/** Bodies that are made before the clock runs: what is measured is the service. */
function bodiesOf({ bodies, lines, hosts }: LineLoad): Buffer[] {
  let timeMs = Date.now() - bodies * lines
  return Array.from({ length: bodies }, () => {
    const text = Array.from({ length: lines }, (_, index) => {
      const value = Math.round(Math.random() * 10_000) / 100
      return `temperature,host=host-${index % hosts} value=${value} ${++timeMs}000000`
    })
    return Buffer.from(text.join('\n'))
  })
}

async function post(load: LineLoad, agent: Agent, body: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const { port, path, authorization } = load
  const headers = { authorization, 'content-type': 'text/plain', 'content-length': body.length }
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST', agent, headers })
  sent.once('error', reject).once('response', (response) => {
    response.resume().once('end', () => resolve(response.statusCode ?? 0))
  })
  sent.end(body)
  return await promise
}

async function run(load: LineLoad): Promise<LineLoadResult> {
  const waiting = bodiesOf(load).values()
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  let [lines, refused] = [0, 0]
  const start = performance.now()
  const client = async () => {
    for (const body of waiting) {
      const status = await post(load, agent, body)
      if (status === 204) lines += load.lines
      else refused += load.lines
    }
  }
  await Promise.all(Array.from({ length: load.connections }, client))
  agent.destroy()
  return { lines, refused, seconds: (performance.now() - start) / 1_000 }
}

/** Posts bodies of line protocol as fast as they are acknowledged; prints the result as JSON. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      path: { type: 'string', default: '/write' },
      authorization: { type: 'string', default: '' },
      bodies: { type: 'string', default: '300' },
      lines: { type: 'string', default: '5000' },
      hosts: { type: 'string', default: '20' },
      connections: { type: 'string', default: '4' },
      // As the other generators have it: this one prints nothing else.
      json: { type: 'boolean', default: true },
    },
  })
  const { path, authorization } = values
  const [port, bodies, lines, hosts, connections] = [
    values.port,
    values.bodies,
    values.lines,
    values.hosts,
    values.connections,
  ].map(Number) as [number, number, number, number, number]
  const load = { port, path, authorization, bodies, lines, hosts, connections }
  process.stdout.write(JSON.stringify(await run(load)))
}

if (import.meta.main) await main()
