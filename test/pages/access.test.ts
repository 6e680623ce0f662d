import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/auth/scopes.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/access.md'
const text = readFileSync(page, 'utf8')

/**
 * Who asks, in the order of the columns of the table: the level of a key of the owner, or the variable of the page with
 * the token. The last one has none.
 */
const callers = [
  'read_only',
  'read_write',
  'admin',
  'DEVICE',
  'ROOT',
  'BOB',
  'WRITER',
  'STRANGER',
  undefined,
] as const

/** What is sent with the operations of the table; a body that makes something makes another one for each caller. */
const bodies: Readonly<Record<string, object>> = {
  'PUT /vaults/{vaultId}': { description: 'changed' },
  'POST /vaults/{vaultId}/permissions': { username: 'guest-{CALLER}', role: 'READ' },
  'PUT /vaults/{publicVaultId}': { description: 'changed' },
  'PUT /streams/{streamId}': { schema: { temperature: { type: 'number' } } },
  'POST /streams/{streamId}/data': { temperature: 61 },
  'POST /fleets': {
    name: 'f-{CALLER}',
    vaultId: '{vaultId}',
    definition: { type: 'iot_sensor', schema: { power: { type: 'number' } } },
  },
  'POST /fleets/{fleetId}/data': { host: 'plug-1', power: 1 },
  'POST /devices': { name: 'd', streamIds: ['{streamId}'] },
  'POST /webhooks': {
    url: 'https://receiver.example.com/hook',
    events: ['stream.alert_triggered'],
    secret: 'a-secret',
  },
  'POST /keys': { name: 'k', kind: 'test', permission: 'custom', scopes: ['data:read'] },
  'POST /users': { username: 'new-{CALLER}', first_name: 'New', last_name: 'User' },
}

/** Further users and keys, and what the page has left in its variables, each with its name. */
const more = `
  user() { ask $ROOT POST /users "{\\"username\\": \\"$1\\", \\"first_name\\": \\"A\\", \\"last_name\\": \\"User\\"}" | jq -r .id; }
  key() {
    token "$(ask $ROOT POST /keys "{\\"name\\": \\"k\\", \\"kind\\": \\"test\\", \\"permission\\": \\"$2\\", \\"userId\\": \\"$1\\"}")"
  }
  for CALLER in ${[...callers.keys()].join(' ')}; do user guest-$CALLER > guest.txt; done
  WRITER=$(key $(user writer) admin)
  STRANGER=$(key $(user stranger) admin)
  ask $ADA POST /vaults/$VAULT/permissions '{"username": "writer", "role": "WRITE"}' > permission.json
  for LEVEL in read_only read_write admin; do echo $LEVEL $(key $ADA_ID $LEVEL); done
  for NAME in DEVICE ROOT BOB WRITER STRANGER API; do echo $NAME \${!NAME}; done
  echo vaultId $VAULT; echo publicVaultId $PUBLIC; echo streamId $STREAM; echo fleetId $FLEET`

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )

  describe('leave users and keys, for whom', () => {
    let values: ReadonlyMap<string, string> = new Map()

    beforeAll(async () => {
      const printed = (await reader?.shell.run(more)) ?? ''
      values = new Map(printed.split('\n').map((line) => line.split(' ') as [string, string]))
    })

    const rows = [...text.matchAll(/^\| `([A-Z]+ \/[^`]+)` \|(.*)$/gm)]

    test.each(rows.map(([, operation = '', cells = '']) => [operation, cells] as const))(
      '%s is answered as the table says',
      async (operation, cells) => {
        const answers: string[] = []
        for (const [column, caller] of callers.entries()) {
          answers.push(await answerTo(operation, caller, column))
        }

        expect(` ${answers.join(' | ')} |`).toBe(cells)
      },
    )

    async function answerTo(
      operation: string,
      caller: string | undefined,
      column: number,
    ): Promise<string> {
      const filled = (template: string) =>
        template
          .replaceAll('{CALLER}', String(column))
          .replaceAll(/\{(\w+Id)\}/g, (_, name: string) => values.get(name) ?? '')
      const [method = '', path = ''] = operation.split(' ')
      const token = caller === undefined ? {} : { authorization: `Bearer ${values.get(caller)}` }
      const body = bodies[operation]
      const answer = await fetch(`${values.get('API')}${filled(path)}`, {
        method,
        ...(body === undefined
          ? { headers: token }
          : {
              headers: { ...token, 'content-type': 'application/json' },
              body: filled(JSON.stringify(body)),
            }),
      })
      await answer.text()
      return answer.ok ? 'yes' : String(answer.status)
    }
  })
})

test(`${page} names every scope`, () => {
  const named = [...text.matchAll(/`([a-z]+:[a-z]+)`/g)].map(([, scope]) => scope)

  expect(new Set(named)).toEqual(new Set(scopes))
})
