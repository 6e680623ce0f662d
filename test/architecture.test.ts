import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ImportRule, storedDataRules } from './stored-data-rules.ts'
import { tellingRules } from './telling-rules.ts'

/**
 * Who may import whom, by folder: the first rule that fits a file counts. A reading walks
 * connectors -> pipeline (processors) -> journal -> pipeline -> time-series or state.
 */
const rules: readonly ImportRule[] = [
  { from: /^src\/core\//, mayImport: [/^src\/core\//] },
  {
    from: /^src\/pipeline\/(connector|fetch-connector|poll-connector|reading|stream-schema|transform-step)\.ts$/,
    mayImport: [
      /^src\/core\//,
      /^src\/pipeline\/(connector|fetch-connector|poll-connector|reading|stream-schema|transform-step)\.ts$/,
    ],
  },
  {
    from: /^processors\//,
    mayImport: [
      /^(processors|src\/core)\//,
      /^src\/pipeline\/(connector|fetch-connector|poll-connector|reading|stream-schema|transform-step)\.ts$/,
    ],
  },
  {
    from: /^connectors\//,
    mayImport: [
      /^(connectors|src\/core)\//,
      /^processors\/(csv-lines|decode)\.ts$/,
      /^src\/mqtt-sessions\/(mqtt-sessions|session-view)\.ts$/,
      /^src\/pipeline\/(connector|fetch-connector|poll-connector|reading|stream-schema|transform-step)\.ts$/,
      /^src\/http\/upgrades\.ts$/,
      /^src\/http\/(schema|openapi\/(error-answers|example))\.ts$/,
    ],
  },
  // Guards every connection that users ask for.
  {
    from: /^src\/egress\//,
    mayImport: [/^src\/(egress|core)\//, /^src\/pipeline\/fetch-connector\.ts$/],
  },
  { from: /^src\/threads\//, mayImport: [/^src\/threads\//, /^src\/core\//] },
  { from: /^src\/journal\//, mayImport: [/^src\/(journal|threads|core)\//] },
  {
    from: /^src\/time-series\//,
    mayImport: [
      /^src\/(time-series|core)\//,
      /^src\/(journal\/journal|pipeline\/stream-schema|threads\/rest)\.ts$/,
    ],
  },
  {
    from: /^src\/units\//,
    mayImport: [/^src\/(units|threads|core)\//, /^src\/pipeline\/transform-step\.ts$/],
  },
  {
    from: /^src\/mqtt-sessions\/session-(routes|schemas)\.ts$/,
    mayImport: [/^src\/(mqtt-sessions|core|http)\//],
  },
  { from: /^src\/mqtt-sessions\//, mayImport: [/^src\/(mqtt-sessions|threads|core)\//] },
  { from: /^src\/state\//, mayImport: [/^src\/state\//, /^src\/core\//] },
  {
    from: /^src\/pipeline\//,
    mayImport: [
      /^(processors|src\/(pipeline|state|core))\//,
      /^src\/journal\/(journal|journal-head)\.ts$/,
      /^src\/time-series\/(time-series-store|store-durability|windows\/window-store)\.ts$/,
    ],
  },
  {
    from: /^src\/config\//,
    mayImport: [/^src\/(config|core|egress)\//, /^src\/observability\/logger\.ts$/],
  },
  {
    from: /^src\/http\//,
    mayImport: [
      /^src\/(http|core)\//,
      /^src\/auth\/(authenticate|limited-key|scopes)\.ts$/,
      /^src\/(audit\/audit-log|config\/tls-files)\.ts$/,
    ],
  },
  {
    from: /^src\/auth\/auth-routes\.ts$/,
    mayImport: [/^src\/(auth|core)\//, /^src\/(http\/server|idempotency\/posts)\.ts$/],
  },
  {
    from: /^src\/auth\//,
    mayImport: [
      /^src\/(auth|state|core)\//,
      /^src\/(audit\/audit-log|config\/data-folder|http\/schema)\.ts$/,
    ],
  },
  {
    from: /^src\/idempotency\//,
    mayImport: [/^src\/(idempotency|core|state)\//, /^src\/http\/json-body\.ts$/],
  },
  {
    // The domains of who asks stand on auth, and are written down by audit.
    from: /^src\/(audit|keys|users)\//,
    mayImport: [
      /^src\/(audit|auth|keys|users|core|state|http)\//,
      /^src\/idempotency\/posts\.ts$/,
      /^src\/lifecycle\/lifecycle-events\.ts$/,
    ],
  },
  {
    // Stands between those who ask and what they ask about: keys that are limited to streams.
    from: /^src\/devices\//,
    mayImport: [
      /^src\/(devices|audit|auth|core|state|http)\//,
      /^src\/(data-streams|vaults|units)\//,
      /^src\/keys\/key\.ts$/,
      /^src\/idempotency\/posts\.ts$/,
      /^src\/lifecycle\/lifecycle-events\.ts$/,
    ],
  },
  {
    // A domain: its own folder, core, state and the HTTP tools; a domain that it is built on.
    from: /^src\/(templates|vaults|data-streams|favorites)\//,
    mayImport: [
      /^src\/(templates|vaults|data-streams|favorites)\//,
      /^src\/(core|state|http)\//,
      /^src\/lifecycle\/lifecycle-events?\.ts$/,
      /^src\/idempotency\/posts\.ts$/,
      /^src\/pipeline\/(reading|stream-schema|transform-step)\.ts$/,
      /^src\/units\/units\.ts$/,
      // To check the steps of a transform is to compile them; to preview them is to run them.
      // To check a descriptor is to compile it as well.
      /^processors\/(transform|preview|decode-protobuf)\.ts$/,
      /^processors\/(alert-rules|expression-check)\.ts$/,
      // A schema is proposed for what a device sends, in whichever format.
      /^processors\/(decode|event-type|csv-samples)\.ts$/,
      /^src\/time-series\/time-series-store\.ts$/,
    ],
  },
  {
    // Runs the connectors that fetch: for data streams, and into the pipeline.
    from: /^src\/sources\//,
    mayImport: [
      /^src\/(sources|core|state)\//,
      /^src\/data-streams\/(data-stream-store|definition|named-secrets|schedule|source-secrets|stream-sources|sources\/webhook)\.ts$/,
      // Schedules go by the clocks of time zones.
      /^src\/time-series\/zones\.ts$/,
      /^src\/egress\/egress-guard\.ts$/,
      /^src\/pipeline\/(connector|fetch-connector|poll-connector|reading)\.ts$/,
      // Positions are read out of the journal's wake.
      /^src\/journal\/journal\.ts$/,
    ],
  },
  {
    // Stands on both sides: rules are run along the journal, and people act by entries of it.
    from: /^src\/alerts\//,
    mayImport: [
      /^src\/(alerts|audit|core|state|http|events|pipeline|data-streams|threads)\//,
      /^src\/idempotency\/posts\.ts$/,
      // Rules are tried on what is stored.
      /^src\/(queries\/time-range|time-series\/series)\.ts$/,
      /^src\/vaults\/vault-(routes|store)\.ts$/,
      /^processors\/(alert[\w-]*|expression-check)\.ts$/,
    ],
  },
  {
    // What the domains tell of their changes: written with them, and brought to the journal later.
    from: /^src\/lifecycle\//,
    mayImport: [
      /^src\/(lifecycle|events|core|state)\//,
      /^src\/pipeline\/(connector|reading|stream-schema)\.ts$/,
    ],
  },
  {
    // Describes what others speak, in their own words.
    from: /^src\/asyncapi\//,
    mayImport: [
      /^src\/(asyncapi|http)\//,
      /-schemas?\.ts$/,
      /^processors\/decode\.ts$/,
      /fixed-header\.ts$/,
    ],
  },
  {
    // Stands on both sides: a domain whose changes are entries of the journal.
    from: /^src\/quarantine\//,
    mayImport: [
      /^src\/(quarantine|core|state|http|pipeline)\//,
      /^src\/data-streams\/data-stream-(routes|store)\.ts$/,
      /^src\/idempotency\/posts\.ts$/,
      /^src\/time-series\/refused-readings\.ts$/,
      /^processors\/decode\.ts$/,
    ],
  },
  {
    // Questions about stored readings: of streams that the caller may ask about.
    from: /^src\/queries\//,
    mayImport: [
      /^src\/queries\//,
      /^src\/data-streams\//,
      /^src\/vaults\//,
      /^src\/idempotency\/posts\.ts$/,
      /^src\/(core|state|http)\//,
      /^src\/pipeline\/stream-schema\.ts$/,
      /^src\/time-series\/(aggregate-query|shape|time-series-store|windows\/window-store|zones)\.ts$/,
      /^src\/windows\/(defined-windows|read-windows)\.ts$/,
    ],
  },
  {
    // Follows what others keep: the journal and the store, each through its port.
    from: /^src\/live\//,
    mayImport: [
      /^src\/(live|core|http|threads)\//,
      /^src\/data-streams\/data-stream-(routes|store)\.ts$/,
      /^src\/journal\/(journal|sqlite-journal)\.ts$/,
      /^src\/pipeline\/(entry|entry-reader)\.ts$/,
      /^src\/time-series\/time-series-store\.ts$/,
    ],
  },
  ...tellingRules,
  ...storedDataRules,
  {
    from: /^src\/observability\//,
    mayImport: [
      /^src\/observability\//,
      /^src\/core\//,
      /^src\/http\/schema\.ts$/,
      /^src\/journal\/journal\.ts$/,
      /^src\/mqtt-sessions\/mqtt-sessions\.ts$/,
      /^src\/pipeline\//,
      /^src\/worker\.ts$/,
      /^connectors\/mqtt-broker\/mqtt-broker\.ts$/,
      /^src\/sources\/running-sources\.ts$/,
    ],
  },
  // The composition roots: of the process and its parts, of the worker thread, and the one's view of the other.
  {
    from: /^src\/(alerting|worker-alerts|delivering|delivery-thread|worker-delivery|mqtt-upkeep|backing-up|restoring|worker-backup|telling|notifying|open-time-series|app|engine|domains|live|fetching|inbound-hooks|transfers|fronts|routes|access|device-access|offline-access|worker|store-procedures|worker-loops|processing-worker)\.ts$/,
    mayImport: [/^(?!src\/(app|main)\.ts)/],
  },
  {
    // Looks at what others have made: their files, formats and settings.
    from: /^src\/doctor\//,
    mayImport: [
      /^src\/(doctor|config|core)\//,
      /^src\/auth\/master-key\.ts$/,
      /^src\/journal\/sqlite-journal\.ts$/,
      /^src\/state\/migrations\/index\.ts$/,
    ],
  },
  {
    from: /^src\/cli\//,
    mayImport: [
      /^src\/(app|offline-access|restoring)\.ts$/,
      /^src\/(cli|config|core|doctor|observability)\//,
      /^src\/auth\/scopes\.ts$/,
    ],
  },
  { from: /^src\/main\.ts$/, mayImport: [/^src\/cli\//] },
]

const product = globSync(['src/**/*.ts', 'connectors/**/*.ts', 'processors/*.ts'])

/** Relative imports of a file, as paths from the root of the project. */
function importsOf(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...imports].map(([, path = '']) => normalize(join(dirname(file), path)))
}

describe('architecture', () => {
  test.each(product)('%s imports only what its folder may import', (file) => {
    const rule = rules.find(({ from }) => from.test(file))
    expect(rule, `no rule says what ${file} may import`).toBeDefined()
    const forbidden = importsOf(file).filter(
      (imported) => !rule?.mayImport.some((allowed) => allowed.test(imported)),
    )
    expect(forbidden).toEqual([])
  })

  test('every rule is about a file that exists', () => {
    const used = new Set(product.map((file) => rules.find(({ from }) => from.test(file))))
    expect(rules.filter((rule) => !used.has(rule))).toEqual([])
  })
})
