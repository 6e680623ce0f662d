import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { UserWorkspaceConfig } from 'vitest/config'
import config from '../vitest.config.ts'

const product = globSync(['src/**/*.ts', 'connectors/**/*.ts', 'processors/*.ts'])
/** Its comments are what the document says. */
const generated = 'clients/typescript/operations.ts'
const everything = [
  ...product,
  ...globSync(['{test,bench,clients}/**/*.ts', '*.ts'], {
    exclude: [generated, 'clients/*/dist/**'],
  }),
]

/** Files with an import that is written like this. */
function importers(imported: RegExp): string[] {
  return product.filter((file) => imported.test(readFileSync(file, 'utf8')))
}

/** Comments may name what code must not call. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '')
}

function leavesOutMarks(file: string): boolean {
  const decoders = readFileSync(file, 'utf8').matchAll(/new TextDecoder\(.*\)/g)
  return [...decoders].some(([made]) => !made.includes('ignoreBOM: true'))
}

/**
 * Openings that hide the subject of a comment, or that today's English does not have. The second
 * line of a comment may begin with any word.
 */
const refusedOpening =
  /(?:\/\*\*?|(?<!:|\/\/.*\n *)\/\/) ?\n?[ *]*(Told|Nor|Such as|Therein|Thereof|Unto|Lest|Whence|Of|So|Those|The same|Whoever|Whatever)\b/g

describe('the files', () => {
  test('a comment begins with its subject', () => {
    const scripts = globSync(['{bin,examples,receivers,scripts}/**/*.{js,ts}'])
    const found = [...everything, ...scripts].flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(refusedOpening)].map(
        ([opening]) => `${file}: ${opening}`,
      ),
    )
    expect(found).toEqual([])
  })

  test('no file is named after nothing', () => {
    const named = /(^|\/)(utils?|helpers?|common|misc|types)\.ts$/
    expect(everything.filter((file) => named.test(file))).toEqual([])
  })

  test('file names are in kebab case', () => {
    const kebab = /(^|\/)(\d{4}-)?[a-z0-9]+(-[a-z0-9]+)*(\.test|\.config)?\.ts$/
    expect(everything.filter((file) => !kebab.test(file))).toEqual([])
  })

  test('every file of tests is run by one project', () => {
    const run = config.test?.projects?.flatMap((project) => {
      const { test: { include = [] } = {} } = project as UserWorkspaceConfig
      return globSync(include)
    })
    expect(run?.toSorted()).toEqual(globSync('test/**/*.test.ts').toSorted())
  })

  test('nothing is left to do', () => {
    const leftover = /T[O]DO|FI[X]ME|X{3}/
    expect(everything.filter((file) => leftover.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  test('the library of units is loaded by its own thread only', () => {
    expect(importers(/'mathjs'/)).toEqual(['src/streams/units/unit-conversion.ts'])
    expect(importers(/\/unit-conversion\.ts'/)).toEqual(['src/streams/units/units-thread.ts'])
    expect(importers(/import .*units-thread\.ts'/)).toEqual([])
  })

  test('the client of object stores is loaded where one is needed, and not before', () => {
    const loading =
      /^import (?!type )[^']*'[^']*(?:\/object-store\/bucket|\/s3-place|\/s3-file-store)\.ts'/m
    expect(importers(/'@aws-sdk\//)).toEqual(['src/egress/object-store/bucket.ts'])
    expect(importers(loading)).toEqual(['src/operating/backup/s3-place.ts'])
  })

  test('the time is asked for in one place', () => {
    const asked =
      /\bDate\.now\b|\bDate\(\)|\bnew Date\b(?!\()|\bperformance\b[.[]|\bhrtime\b|\bperf_hooks\b|\btimeOrigin\b|\bTemporal\.Now\b|\bos\.uptime\b|\bprocess\.uptime\b|\b(CURRENT_TIMESTAMP|unixepoch|julianday|strftime)\b/
    const files = [...product, ...globSync(['bin/**/*.js', 'bin/**/*.ts'])]
    const asking = files.filter((file) => asked.test(withoutComments(readFileSync(file, 'utf8'))))
    expect(asking).toEqual(['src/core/clock.ts'])
  })

  test('promises are raced in one place, which keeps nothing of races that are over', () => {
    const racing = product.filter((file) => {
      return /\bPromise\.race\b/.test(withoutComments(readFileSync(file, 'utf8')))
    })
    expect(racing).toEqual([])
  })

  test('DuckDB is opened in one place, which lets texts keep U+FEFF', () => {
    const opening = /DuckDBInstance\.(create|fromCache)/
    const openers = product.filter((file) => opening.test(readFileSync(file, 'utf8')))
    expect(openers).toEqual(['src/core/duckdb-instance.ts'])
  })

  test('a decoder leaves out byte order marks of whole files only', () => {
    expect(product.filter(leavesOutMarks).sort()).toEqual([
      'connectors/api-pull/read-page.ts',
      'src/streams/devices/device-csv.ts',
    ])
  })

  test('streams of files and of iterables have a listener for errors all along', () => {
    const making = /\bcreateReadStream\(|\bReadable\.from\(/
    const makers = product.filter((file) =>
      making.test(withoutComments(readFileSync(file, 'utf8'))),
    )
    // Commands end with their stream, and servers do not.
    expect(makers.filter((file) => !file.startsWith('src/cli/'))).toEqual([
      'src/core/heard-streams.ts',
    ])
  })

  test('whoever listens for errors listens to all of them', () => {
    expect(importers(/\.(once|prependOnceListener)\(\s*'error'|removeAllListeners\(/)).toEqual([])
  })

  test('what can fail by itself has a listener for errors where it is made', () => {
    const made =
      /\bnew (PassThrough|Worker|WebSocket|Client|MqttClient)\(|\bcreate(Socket|Server|TlsServer)\(|\b(?<!#)connect(Tls)?\(\{ |\b(fork|startThread)\(/
    const files = product.filter((file) => !file.startsWith('processors/'))
    const makers = files.filter((file) => made.test(withoutComments(readFileSync(file, 'utf8'))))
    const listening = /\.on\('error'|\bthreadFailure\(|\bnew RemoteThread\b/
    const deaf = makers.filter((file) => !listening.test(readFileSync(file, 'utf8')))
    expect(deaf.toSorted()).toEqual([
      // undici listens.
      'src/egress/guarded-http.ts',
      // It waits until the port is closed again.
      'src/operating/doctor/network-checks.ts',
      // Their threads are listened to by those that they hand them to.
      'src/processes/network/anchoring.ts',
      'src/processes/network/delivering.ts',
    ])
  })

  test('processors read no clock and do no input or output', () => {
    const impure = /Date\.now|new Date\(\)|performance\.|Math\.random|node:(fs|net|http|timers)/
    const files = globSync('processors/*.ts')
    expect(files.filter((file) => impure.test(readFileSync(file, 'utf8')))).toEqual([])
  })
})
