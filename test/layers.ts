/** A group of folders of `src/` (or the folders of `connectors/` and `processors/`): what it is, and what it stands on. */
export interface Layer {
  readonly is: string
  readonly mayImport: readonly string[]
}

/** Groups by their names, in one text. */
function of(names: string): readonly string[] {
  return names.split(' ')
}

/**
 * The groups, from what everything stands on up to the entry. Each may import what is named here, and itself; nothing is
 * named that stands further down in this table, so no two groups need each other. Within a group folders may need
 * each other in one direction as well.
 */
export const layers: Readonly<Record<string, Layer>> = {
  core: { is: 'words that all share: ids, errors, clocks, calls between threads', mayImport: [] },
  contracts: {
    is: 'what a connector and a processor have to do with the pipeline: messages, readings, schemas, steps',
    mayImport: ['core'],
  },
  kinds: {
    is: 'what a source may say: `source.ts` of each connector, and the fields that they share',
    mayImport: ['core', 'contracts'],
  },
  storage: { is: 'keep: journal, state, time series', mayImport: ['core', 'contracts'] },
  egress: { is: 'the only way out to what users name', mayImport: ['core', 'contracts'] },
  config: { is: 'settings and the data folder', mayImport: ['core', 'egress'] },
  access: {
    is: 'who asks: keys in memory, tokens, limits of logins, the audit log',
    mayImport: ['core', 'storage', 'config'],
  },
  requests: {
    is: 'tools of routes: server, schemas, the OpenAPI document, a POST that is done once',
    mayImport: ['core', 'storage', 'config', 'access'],
  },
  outbox: {
    is: 'what happened, written down with the change that it follows from',
    mayImport: ['core', 'contracts', 'storage'],
  },
  files: {
    is: 'files: where their bytes are, what those hash to, how they come in and go out',
    mayImport: of('core storage egress config access requests outbox'),
  },
  ledgers: {
    is: 'ledgers that something is put on, the one of our own, and what proves it',
    mayImport: ['core'],
  },
  anchors: {
    is: 'what is put on ledgers: intents, how each comes further, proofs',
    mayImport: of('core storage access requests outbox files ledgers'),
  },
  identity: {
    is: 'users, keys and tokens, as people manage them',
    mayImport: of('core storage access requests outbox files'),
  },
  twins: {
    is: 'asset streams, attachments, templates, vaults, favorites',
    mayImport: of('core storage access requests outbox files ledgers anchors identity'),
  },
  processors: {
    is: 'decide: pure functions, from bytes to a reading or a reason, and the rules of alerts',
    mayImport: ['core', 'contracts'],
  },
  streams: {
    is: 'data streams: definitions, units, devices, and sources that are fetched',
    mayImport: of(
      'core contracts kinds storage egress access requests outbox identity twins processors',
    ),
  },
  ingest: {
    is: 'the way of a reading: intake, entries, the two consumers, the quarantine, sessions of MQTT',
    mayImport: ['core', 'contracts', 'storage', 'requests', 'processors', 'streams'],
  },
  connectors: {
    is: 'how readings come in: one folder for each kind of source',
    mayImport: ['core', 'contracts', 'kinds', 'requests', 'processors', 'ingest'],
  },
  reading: {
    is: 'what is asked of stored readings, and done with them: queries, windows, tails, exports, imports, retention',
    mayImport: of('core contracts storage access requests outbox twins processors streams ingest'),
  },
  alerts: {
    is: 'rules along the journal, and what people do about alerts',
    mayImport: of(
      'core contracts storage access requests outbox twins processors streams ingest reading',
    ),
  },
  telling: {
    is: 'tell: who hears of events, by inbox, webhook or mail, and how deliveries get there',
    mayImport: of(
      'core storage egress config access requests outbox identity twins processors reading alerts',
    ),
  },
  evidence: {
    is: 'show: seals over what is stored, and receipts of what became of a reading',
    mayImport: of(
      'core contracts storage access requests outbox ledgers anchors twins processors streams ingest reading alerts telling',
    ),
  },
  operating: {
    is: 'operate: metrics, health, logs, backups, the doctor, the overview, the AsyncAPI document',
    mayImport: of(
      'core storage egress config access requests files ledgers anchors processors streams ingest connectors reading alerts telling evidence',
    ),
  },
  processes: {
    is: 'who is wired to whom: a folder for each thread, and one for commands without a service',
    mayImport: of(
      'core storage egress config access requests outbox files ledgers anchors identity twins processors streams ingest connectors reading alerts telling evidence operating',
    ),
  },
  cli: {
    is: 'commands',
    mayImport: of('core config access files ledgers operating processes'),
  },
  main: { is: 'the entry', mayImport: ['cli'] },
}
