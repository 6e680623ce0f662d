import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { LineFeedServer } from '../support/line-feed-server.ts'
import { newPerson, vaultOf } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()
const copy = new TemporaryFolder()

afterAll(() => copy[Symbol.dispose]())

const page = readFileSync('docs/connectors.md', 'utf8')

/** Lines that the page has added to a file, by its path: imports, and the beginning of a list with a new element. */
function additions(): ReadonlyMap<string, readonly string[]> {
  const blocks = page.matchAll(/`([\w/-]+\.ts)`:\n\n```ts add\n(.*?)```/gs)
  return new Map([...blocks].map(([, path = '', code = '']) => [path, code.trimEnd().split('\n')]))
}

/** A file with an import before all others, and a new element at the beginning of its list. */
function withAddition(text: string, [addedImport, list = '', element]: readonly string[]): string {
  if (!text.includes(list)) throw new Error(`there is no ${list}`)
  return `${addedImport}\n${text.replace(list, `${list}\n${element}`)}`
}

test('a connector that is added as docs/connectors.md says brings readings in', async () => {
  for (const part of ['bin', 'src', 'connectors', 'processors', 'package.json']) {
    cpSync(part, copy.file(part), { recursive: true })
  }
  symlinkSync(resolve('node_modules'), copy.file('node_modules'))
  cpSync('examples/line-feed', copy.file(join('connectors', 'line-feed')), { recursive: true })
  const changed = additions()
  expect([...changed.keys()]).toEqual(['connectors/index.ts', 'connectors/sources.ts'])
  for (const [path, lines] of changed) {
    writeFileSync(copy.file(path), withAddition(readFileSync(path, 'utf8'), lines))
  }

  await using feed = await LineFeedServer.start()
  feed.publish([Buffer.from('{"temperature": 21.5}')])
  const egress = { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${feed.port}` }
  const service = await services.start(services.newFolder(), egress, copy.path)
  const person = await newPerson(new ApiClient(service.http))
  const token = `Bearer ${await person.token()}`
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`${service.http}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as Readonly<Record<string, unknown>>
  }
  const vaultId = await vaultOf(person)
  const definition = { name: 'feed', vaultId, type: 'event_stream' }
  const schema = { temperature: { type: 'number' } }

  const refused = await ask('/streams', {
    ...definition,
    schema,
    source: { protocol: 'lines', port: 1 },
  })
  expect(refused['details']).toEqual([
    { path: 'source.port', message: 'is not known' },
    { path: 'source.endpoint', message: 'is required' },
  ])

  const source = { protocol: 'lines', endpoint: `lines://127.0.0.1:${feed.port}` }
  const { streamId } = await ask('/streams', { ...definition, schema, source })
  const latest = () => ask(`/streams/${String(streamId)}/data`)
  await expect.poll(latest, { timeout: 30_000 }).toMatchObject({ data: [{ temperature: 21.5 }] })
  const { components } = (await (await fetch(`${service.http}/openapi.json`)).json()) as {
    readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
  }
  expect(components.schemas['LineFeedSource']).toMatchObject({ required: ['protocol', 'endpoint'] })
})
