import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { isNatsMissing, NatsServer } from '../support/nats.ts'
import { follower, keeps, numbers, readings } from '../support/nats-source.ts'

const page = readFileSync(new URL('../../docs/nats.md', import.meta.url), 'utf8')
const [, example = ''] = /```json definition\n(.*?)\n```/s.exec(page) ?? []
const [, publish = '', subscribe = ''] = /publish: (.*?)\nsubscribe: (.*?)\n/s.exec(page) ?? []

/** A list of subjects, as it stands in a configuration. */
function quoted(list: string): string {
  return list
    .split(/,\s+/)
    .map((subject) => `"${subject}"`)
    .join(', ')
}

let server: NatsServer

beforeAll(async () => {
  if (!isNatsMissing) server = await NatsServer.start()
})

afterAll(async () => await server?.[Symbol.asyncDispose]())

describe.skipIf(isNatsMissing)('docs/nats.md', () => {
  test('has an example that reads, and a user who may do no more than it says', async () => {
    const vaultId = '01234567-89ab-4def-8123-456789abcdef'
    const { source } = parseDefinition({ vaultId, ...JSON.parse(example) })
    const { username, password } = source['credentials'] as Record<string, string>
    const permissions = `publish: [${quoted(publish)}], subscribe: [${quoted(subscribe)}]`
    const users = [
      '{ user: admin, password: admin }',
      `{ user: ${username}, password: "${password}", permissions: { ${permissions} } }`,
    ]
    await server.restart([`authorization { users: [ ${users.join(', ')} ] }`], {
      username: 'admin',
      password: 'admin',
    })
    const { streams } = await server.manager()
    await streams.add({ name: 'PLANT', subjects: ['plants.>'] })
    await server.publish('plants.7.boiler', readings(0, 20))
    await using reader = follower(server, { ...source, endpoint: server.endpoint })
    reader.start()
    await keeps(reader, numbers(0, 20))
  })
})
