import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sourceKinds } from '../../connectors/sources.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/first-data-stream.md'

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly default?: string | number | boolean
  readonly enum?: readonly unknown[]
  readonly additionalProperties?: Schema
}

interface Row {
  readonly is: string
  readonly usual: string
}

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined
  let components: Readonly<Record<string, Schema>> = {}

  beforeAll(async () => {
    reader = await PageRun.start(page)
    const document = await reader.shell.run('curl -s $API/openapi.json')
    components = (JSON.parse(document) as { components: { schemas: typeof components } }).components
      .schemas
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    // What is said to print nothing must not.
    async (_, block) => await reader?.run({ ...block, output: block.output ?? '' }),
  )

  const definition = () => componentOf('NewDataStream')
  const processing = () => memberOf(definition(), 'processing')

  test.each([
    ['Every key of a definition', definition],
    ['`schema`', () => componentOf('Field')],
    ['`processing`', processing],
    ['`processing.retention`', () => memberOf(processing(), 'retention')],
    ['A rule of `processing.alerting`', () => componentOf('AlertRule')],
    ['`source`', () => componentOf('DeviceSource')],
  ])('stand above a table of %s: with each key, its values and its default', (title, schemaOf) => {
    const { properties = {}, required = [] } = schemaOf()
    const rows = tableUnder(title)
    expect([...rows.keys()].toSorted()).toEqual(Object.keys(properties).toSorted())
    const wrong = Object.entries(properties).flatMap(([key, { default: usual, enum: values }]) => {
      const row = rows.get(key) ?? { is: '', usual: '' }
      const unsaid = (values ?? []).map(shownValue).filter((value) => !row.is.includes(value))
      // The two forms of this source differ in the protocol alone.
      const isRequired = required.includes(key) && title !== '`source`'
      const said = isRequired
        ? 'required'
        : usual === undefined
          ? undefined
          : `\`${String(usual)}\``
      // A value alone would be a default: what happens without one is said in words.
      const isRight = said === undefined ? /^(?!`[^`]+`$)./.test(row.usual) : row.usual === said
      return isRight && unsaid.length === 0 ? [] : [{ key, said, unsaid }]
    })
    expect(wrong).toEqual([])
  })

  test('name each protocol, with the page of its keys', () => {
    const text = readFileSync(page, 'utf8')
    const named = text.slice(text.indexOf('| `protocol` | page |'))
    const pages = [...named.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name = '']) => name)
    const shown = pages.map((name) => readFileSync(`docs/${name}`, 'utf8')).join('\n')
    for (const { name, protocols } of sourceKinds) {
      if (name.startsWith('DeviceSource')) continue
      expect(shown).toContain(`<!-- keys: ${name} -->`)
      for (const protocol of protocols) expect(named).toContain(`\`${protocol}\``)
    }
  })

  function componentOf(name: string): Schema {
    const found = components[name]
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  function memberOf(schema: Schema, name: string): Schema {
    const found = schema.properties?.[name]
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found.$ref === undefined ? found : componentOf(found.$ref.split('/').at(-1) ?? '')
  }
})

/** The first table below a heading, by key. */
function tableUnder(title: string): ReadonlyMap<string, Row> {
  const text = readFileSync(page, 'utf8')
  const [, section = ''] = text.split(new RegExp(`^###? ${RegExp.escape(title)}$`, 'm'))
  const [, table = ''] = section.split('\n| --- | --- | --- | --- |\n')
  const rows = (table.split('\n\n')[0] ?? '').trim().split('\n')
  return new Map(
    rows.map((row) => {
      const [, key = '', is = '', usual = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
      return [key.replaceAll('`', ''), { is, usual }]
    }),
  )
}

/** A value in the way of the page. */
function shownValue(value: unknown): string {
  if (value === '\t') return '`\\t`'
  if (value === '|') return '`\\|`'
  if (value === ' ') return 'a blank'
  return `\`${String(value)}\``
}
