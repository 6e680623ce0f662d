import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../src/cli/commands.ts'
import { errorCatalogue } from '../src/core/error-catalogue.ts'
import { refusalCatalogue } from '../src/core/refusal-catalogue.ts'
import { clientFiles, clientFolder } from './client/client-files.ts'
import { servedDocument } from './client/served-document.ts'
import { withCommandTable } from './command-table.ts'
import { errorsPage } from './errors-page.ts'
import { withKeyTables } from './key-tables.ts'
import { metricFamilies, settingsForAllMetrics, withMetricTables } from './metrics-page.ts'
import { askService } from './served-service.ts'
import { freePort } from './servers/free-port.ts'
import { sourceKeyTables } from './source-keys.ts'

writeFileSync('docs/errors.md', errorsPage(errorCatalogue, refusalCatalogue))
for (const file of globSync('docs/*.md')) {
  const page = readFileSync(file, 'utf8')
  const written = withCommandTable(withKeyTables(page, sourceKeyTables), commands)
  if (written !== page) writeFileSync(file, written)
}
for (const [name, source] of Object.entries(clientFiles(await servedDocument()))) {
  writeFileSync(join(clientFolder, name), source)
}
const metrics = await askService(
  async (http) => await (await fetch(new URL('/metrics', http))).text(),
  { ...settingsForAllMetrics, STREAMVAULT_MQTT_PORT: String(await freePort()) },
)
const metricsPage = readFileSync('docs/metrics.md', 'utf8')
writeFileSync('docs/metrics.md', withMetricTables(metricsPage, metricFamilies(metrics)))
