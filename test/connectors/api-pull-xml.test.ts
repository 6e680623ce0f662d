import { describe, expect, test } from 'vitest'
import { csvDecoder } from '../../processors/decode-csv.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer } from '../support/api-server.ts'

const source = {
  format: 'csv',
  columns: ['at', 'number', null, 'text'],
  itemsPath: 'feed.list.entry',
}

async function round(
  bodies: string | readonly (string | Buffer)[],
  more: object = {},
  type = 'application/atom+xml',
) {
  const all = [bodies].flat()
  await using api = await ApiServer.start((_, answer) => {
    answer.writeHead(200, { 'content-type': type })
    answer.end(all[api.asked.length - 1])
  })
  const rounds = new ApiRounds({ endpoint: api.origin, ...source, ...more }, [api.port])
  return { messages: await rounds.round(), paths: api.paths }
}

const feed = (...entries: readonly string[]) =>
  `<?xml version="1.0"?><!-- of a plant --><a:feed xmlns:a="urn:a"><list>${entries.join('\n')}</list></a:feed>`

const page = (number: number, next: string) =>
  feed(`<entry><number>${number}</number></entry>`).replace(
    '</a:feed>',
    `<next>${next}</next></a:feed>`,
  )

async function failureOf(body: string, more: object = {}): Promise<string> {
  try {
    await round(body, more)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it did not fail')
}

describe('XML', () => {
  test('becomes lines that the stream reads by the types of its fields', async () => {
    const { messages } = await round(
      feed(
        '<entry at="2026-01-01T00:00:00Z"><number> 7.50\n</number><text>a "b" &amp; <![CDATA[<&amp;>]]>&#x20AC;&#33;</text></entry>',
        '<a:entry><a:at>2026-01-01T00:00:01Z</a:at><number/><other>1</other></a:entry>',
        '<entry><text>007</text></entry>',
      ),
    )
    const lines = messages.map(({ payload }) => Buffer.from(payload).toString())
    expect(lines).toEqual([
      '"2026-01-01T00:00:00Z","7.50",,"a ""b"" & <&amp;>€!"\n"2026-01-01T00:00:01Z","",,\n,,,"007"\n',
    ])
    const decode = csvDecoder({
      schema: {
        fields: { number: { type: 'number' }, text: { type: 'string' } },
        validation: 'lenient',
        timestampField: 'at',
        timestampFormat: 'rfc3339',
      },
      formatOptions: { columns: source.columns },
    })
    expect(decode(Buffer.from(lines[0] ?? ''))).toMatchObject({
      readings: [
        { at: '2026-01-01T00:00:00Z', number: 7.5, text: 'a "b" & <&amp;>€!' },
        { at: '2026-01-01T00:00:01Z', number: '' },
        { text: '007' },
      ],
    })
  })

  test('a record that says two things is refused alone', async () => {
    const { messages } = await round(
      feed(
        '<entry><number>1</number></entry>',
        '<entry><number>1</number><number>2</number></entry>',
        '<entry><number><of>1</of></number></entry>',
        '<entry><number>4</number></entry>',
      ),
    )
    expect(messages.map(({ problem }) => problem)).toEqual([
      undefined,
      'number comes twice',
      'number has elements in it',
      undefined,
    ])
  })

  test('has pages by a cursor in it', async () => {
    const pagination = { type: 'cursor', parameter: 'after', cursorPath: 'feed.next' }
    const { messages, paths } = await round([page(1, 'x&amp;y'), page(2, '')], { pagination })
    expect(messages.map(({ payload }) => Buffer.from(payload).toString())).toEqual([
      ',"1",,\n',
      ',"2",,\n',
    ])
    expect(paths).toEqual(['/', '/?after=x%26y'])
  })

  test('is read in the encoding that it names', async () => {
    const body = `<?xml version="1.0" encoding="ISO-8859-1"?><feed><list><entry text="K\xf6ln"/></list></feed>`
    const { messages } = await round([Buffer.from(body, 'latin1')], {}, 'text/xml')
    expect(messages.map(({ payload }) => Buffer.from(payload).toString())).toEqual([',,,"Köln"\n'])
  })

  const bomb = `<!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${feed('<entry><text>&b;</text></entry>').slice(21)}`

  test.each([
    ['with entities of its own', bomb, 'DOCTYPE'],
    ['that reads files', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'DOCTYPE'],
    ['cut', feed('<entry>').slice(0, -20), 'not well-formed XML'],
    ['nested deeply', `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`, 'nested'],
    ['large', feed(`<entry>${'x'.repeat(3 * 1024 ** 2)}</entry>`), 'more than 2 MiB'],
    ['with two roots', '<a></a><b></b>', 'not well-formed XML'],
  ])('%s is not taken', async (_, body, reason) => {
    expect(await failureOf(body)).toContain(reason)
  })

  test('references to what is not there stay as they are', async () => {
    const { messages } = await round(feed('<entry><text>&nbsp; &#x110000; &amp;lt;</text></entry>'))
    expect(Buffer.from(messages[0]?.payload ?? []).toString()).toBe(',,,"&nbsp; &#x110000; &lt;"\n')
  })

  test.each([{ format: 'json' }, { itemsPath: undefined }])(
    'is refused, with the remedy, by a source with %j',
    async (more) => {
      await expect(round(feed(), more)).rejects.toThrow(SourceRefused)
    },
  )
})
