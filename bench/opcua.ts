import { setTimeout as sleep } from 'node:timers/promises'
import { opcua } from '../connectors/opcua/opcua.ts'
import { opcUaCredentials } from '../scripts/servers/opcua.ts'
import { FetchingSource } from '../test/support/fetching-source.ts'
import { OpcUaTestServer } from '../test/support/opcua-server.ts'
import { type Figure, printFigure } from './report.ts'

/** Whether all changes of many items of a server of OPC UA, one a second each, get into the journal, and what it takes. */
export async function opcUaSpeed(items = 5_000, seconds = 60): Promise<Figure> {
  await using server = await OpcUaTestServer.start({
    variables: items,
    changeEveryMs: 1_000,
    changesMax: seconds,
    changesFrom: 'item-0',
  })
  await using source = new FetchingSource({
    connector: opcua,
    ports: [server.port],
    source: {
      protocol: 'opcua',
      endpoint: server.endpoint,
      credentials: opcUaCredentials,
      items: Array.from({ length: items }, (_, index) => `ns=1;s=item-${index}`),
      samplingInterval: 0,
      queueSize: 10,
    },
  })
  source.start()
  while (source.runner.status.state !== 'running') await sleep(20)

  // From now on they change.
  await server.set([{ name: 'item-0', value: 0 }])
  const begunMs = performance.now()
  const before = process.cpuUsage()
  await sleep(seconds * 1_000)
  const { user, system } = process.cpuUsage(before)
  const share = (user + system) / 1e3 / (performance.now() - begunMs)

  const wanted = items * seconds + 1
  const deadlineMs = performance.now() + 15_000
  while (source.entries().numbers.length < wanted && performance.now() < deadlineMs)
    await sleep(500)
  const { numbers, refused } = source.entries()
  return {
    name: `${items.toLocaleString('en')} items of OPC UA, one change a second each for ${seconds} s: values in the journal`,
    measured: `${numbers.length} of ${wanted}, ${refused.length} refused, ${(share * 100).toFixed(0)} % of one core`,
    target: 'all',
    isMet: numbers.length === wanted && refused.length === 0,
  }
}

/** By itself with `npm run bench:opcua`. */
if (import.meta.main) printFigure(await opcUaSpeed())
