import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The newest server that Maven Central has, and the digest that is published beside it. */
const version = '9.3.4'
const sha256 = '939bc53ab22f93dbaa6545143a6e7c536d4904c07b7f2d381e8eef10436be062'

const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'
const downloadMs = 300_000

/** Where downloads are kept between runs. */
export const toolsFolder = join(homedir(), '.cache', 'streamvault-test-tools')

export const questDbJar = join(toolsFolder, `questdb-${version}.jar`)

export function hasQuestDbJar(): boolean {
  return existsSync(questDbJar)
}

/**
 * Downloads the server unless it is there. `MAVEN_REPOSITORY_URL` names a repository to take it from;
 * without that `mvn` does it, with whatever mirrors its settings.xml names.
 *
 * @throws Error when it cannot be had, or is not the one that is expected
 */
export async function fetchQuestDbJar(): Promise<void> {
  if (hasQuestDbJar()) return
  const draft = join(toolsFolder, `download-${process.pid}`)
  mkdirSync(draft, { recursive: true })
  try {
    const jar = await download(draft)
    const found = createHash('sha256').update(readFileSync(jar)).digest('hex')
    if (found !== sha256) throw new Error(`questdb-${version}.jar has the SHA-256 ${found}`)
    renameSync(jar, questDbJar)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function download(folder: string): Promise<string> {
  const file = join(folder, `questdb-${version}.jar`)
  const repository = process.env['MAVEN_REPOSITORY_URL']
  if (repository) {
    const url = `${repository.replace(/\/+$/, '')}/org/questdb/questdb/${version}/questdb-${version}.jar`
    const response = await fetch(url, { signal: AbortSignal.timeout(downloadMs) })
    if (!response.ok) throw new Error(`MAVEN_REPOSITORY_URL answered ${response.status}`)
    writeFileSync(file, await response.bytes())
  } else {
    const artifact = `-Dartifact=org.questdb:questdb:${version}:jar`
    const args = ['-q', '-B', plugin, artifact, `-DoutputDirectory=${folder}`]
    await promisify(execFile)('mvn', args, { timeout: downloadMs })
  }
  return file
}
