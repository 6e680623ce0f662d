import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { olderState } from '../support/older-backup.ts'
import { type PageBlock, pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/upgrade.md'

/** Migrations that an earlier version had. */
const earlier = Object.keys(migrations).filter((name) => name < '0059')

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun
  const shell = async (commands: string) => (await reader.shell.run(commands)).trim()

  /** What the new version finds: the folder as an earlier version has left it. */
  async function leaveOlderState(): Promise<void> {
    const path = join(await shell('echo $STREAMVAULT_DATA_DIR'), 'state.db')
    await olderState(path, `${path}.older`, earlier)
    for (const name of [path, `${path}-wal`, `${path}-shm`]) rmSync(name, { force: true })
    renameSync(`${path}.older`, path)
  }

  async function run(block: PageBlock): Promise<void> {
    const isNewVersion = block.text.includes('git pull')
    const output = block.output?.replaceAll('/srv/streamvault', await shell('pwd'))
    await reader.run({ ...block, output, ...(isNewVersion ? { text: ':' } : {}) })
    if (isNewVersion) await leaveOlderState()
  }

  beforeAll(async () => {
    reader = await PageRun.start(page)
    // The ports that doctor looks at are those of this service.
    await shell(`
      export STREAMVAULT_HTTP_PORT=\${API##*:} STREAMVAULT_MQTT_PORT=$PORT
      token() { curl -s $API/auth/token -H 'content-type: application/json' -d @$ADMIN | jq -r .accessToken; }
      call() { curl -s "$API$1" -H "authorization: Bearer $(token)" -H 'content-type: application/json' "\${@:2}"; }
      TEMPLATE=$(call /templates -d '{"name": "t", "hint": "", "required_streams": []}' | jq -r .id)
      VAULT=$(call /vaults -d "{\\"template_id\\": \\"$TEMPLATE\\", \\"name\\": \\"v\\"}" | jq -r .id)
      STREAM=$(call /streams -d "{\\"name\\": \\"s\\", \\"vaultId\\": \\"$VAULT\\", \\"type\\": \\"iot_sensor\\",
        \\"schema\\": {\\"temperature\\": {\\"type\\": \\"number\\"}}}" | jq -r .streamId)
      call /streams/$STREAM/data -d '{"timestamp": "2026-01-31T10:00:00Z", "temperature": 21.5}' > sent.json
      until call /streams/$STREAM/status | jq -e '.counters.stored == 1' > /dev/null; do sleep 0.2; done`)
  })

  afterAll(async () => await reader.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => {
      await run(block)
      // The reading is there after the upgrade, and after the way back.
      if (block.label === 'start') {
        expect(await shell('call /streams/$STREAM/latest | jq .data.temperature')).toBe('21.5')
      }
    },
  )

  test('messages of an older version are those of the table', async () => {
    await reader.run({ line: 0, language: 'sh', label: 'stop', text: ':', output: undefined })
    const folder = await shell('echo $STREAMVAULT_DATA_DIR')
    using state = new DatabaseSync(join(folder, 'state.db'))
    state.exec(`INSERT INTO kysely_migration VALUES ('9999-later', '2030-01-01T00:00:00Z')`)
    using journal = new DatabaseSync(join(folder, 'journal.db'))
    journal.exec('PRAGMA user_version = 99')

    const said = await shell('npx streamvault doctor || true')

    expect(said).toContain('state.db: a newer version has changed its tables (9999-later)')
    expect(said).toContain('journal.db: a newer version has written it (format 99)')
  })
})
