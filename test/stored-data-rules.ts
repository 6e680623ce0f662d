/** What the files of a folder may import. */
export interface ImportRule {
  readonly from: RegExp
  readonly mayImport: readonly RegExp[]
}

/** Of what goes on around stored data: it is kept, removed, taken out, brought in and copied. */
export const storedDataRules: readonly ImportRule[] = [
  {
    // How long data is kept: said by streams and vaults, and done in the store.
    from: /^src\/retention\//,
    mayImport: [
      /^src\/(retention|core|state|http)\//,
      /^src\/data-streams\/(definition-problems|definition-schemas|retention)\.ts$/,
      /^src\/vaults\/vault-(routes|store)\.ts$/,
      /^src\/lifecycle\/lifecycle-events\.ts$/,
      /^src\/time-series\/(time-series-store|windows\/window-store)\.ts$/,
    ],
  },
  {
    // Computes the windows of streams out of their readings, through the store's port.
    from: /^src\/windows\//,
    mayImport: [
      /^src\/(windows|core|time-series\/windows)\//,
      /^src\/data-streams\/(deduplication|definition|transform-definition)\.ts$/,
      /^src\/(pipeline\/stream-schema|time-series\/(aggregate-query|shape))\.ts$/,
    ],
  },
  {
    from: /^src\/removals\//,
    mayImport: [
      /^src\/(removals|core|http|pipeline)\//,
      /^src\/data-streams\/data-stream-(routes|store)\.ts$/,
      /^src\/queries\/time-range\.ts$/,
    ],
  },
  {
    // Work in the background that outlives a restart, whatever it is.
    from: /^src\/jobs\//,
    mayImport: [
      /^src\/(jobs|core|state|http)\//,
      /^src\/auth\/scopes\.ts$/,
      /^src\/idempotency\/posts\.ts$/,
    ],
  },
  {
    // Stored readings into files: questions that are asked in the background.
    from: /^src\/exports\//,
    mayImport: [
      /^src\/(exports|jobs|core|state|http|threads|queries|data-streams)\//,
      /^src\/idempotency\/posts\.ts$/,
      /^src\/time-series\/(aggregate-query|shape|time-series-store|windows\/window-store)\.ts$/,
      /^src\/windows\/read-windows\.ts$/,
    ],
  },
  {
    // Files into streams: what comes out of them goes the way of every reading.
    from: /^src\/imports\//,
    mayImport: [
      /^src\/(imports|jobs|core|state|http|pipeline)\//,
      /^src\/data-streams\/data-stream-(routes|store)\.ts$/,
      /^src\/idempotency\/posts\.ts$/,
      /^processors\/(csv-lines|decode-json|timestamp|typed-text)\.ts$/,
    ],
  },
  {
    // Copies what others keep, file by file: it has to know what these are.
    from: /^src\/backup\//,
    mayImport: [
      /^src\/(backup|core|http|journal|state|threads|egress)\//,
      /^src\/(audit\/audit-log|idempotency\/posts|pipeline\/entry-reader)\.ts$/,
      /^src\/time-series\/(store-copy|questdb\/copy\/(read-rows|served-rows))\.ts$/,
    ],
  },
]
