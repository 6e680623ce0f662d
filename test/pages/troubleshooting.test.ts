import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorCatalogue } from '../../src/core/error-catalogue.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/troubleshooting.md'
const text = readFileSync(page, 'utf8')

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun
  let dataDir = ''

  beforeAll(async () => {
    reader = await PageRun.start(page, { STREAMVAULT_EGRESS_ALLOW: '127.0.0.1:9' })
    // The ports that doctor looks at are those of this service.
    dataDir = await reader.shell.run(
      `export STREAMVAULT_HTTP_PORT=\${API##*:} STREAMVAULT_MQTT_PORT=$PORT
       echo $STREAMVAULT_DATA_DIR`,
    )
  })

  afterAll(async () => await reader.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => {
      const output = block.output
        ?.replaceAll('/srv/streamvault/data', dataDir.trim())
        .replaceAll('127.0.0.1:8080', '127.0.0.1:0')
      await reader.run({ ...block, output })
    },
  )
})

test(`${page} has every code of a refusal for want of credentials`, () => {
  const section = text.slice(text.indexOf('## 401'), text.indexOf('## 404'))
  const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)
  // The signature is that of a message of another service, and not of a client.
  const codes = Object.entries(errorCatalogue)
    .filter(([code, { status }]) => status === 401 && code !== 'invalid_signature')
    .map(([code]) => code)

  expect(new Set(rows)).toEqual(new Set(codes))
})

test(`${page} has a section for each symptom of its table`, () => {
  const table = text.slice(0, text.indexOf('First of all'))
  const linked = [...table.matchAll(/\(#([\w-]+)\)/g)].map(([, anchor]) => anchor)
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

  expect(new Set(linked)).toEqual(new Set(headings))
})
