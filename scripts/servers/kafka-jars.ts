import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toolsFolder } from './questdb-jar.ts'

const version = '4.1.0'

const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies'
const downloadMs = 600_000

/** The server with all that it needs to run. */
export const kafkaFolder = join(toolsFolder, `kafka-${version}`)

export function hasKafkaJars(): boolean {
  return existsSync(join(kafkaFolder, `kafka_2.13-${version}.jar`))
}

/** Nothing is built: it only says what is wanted, whose digests Maven checks. */
const project = (repository: string) => `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>streamvault</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  ${repository}
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`

const repositoryOf = (url: string) => `<repositories>
    <repository><id>given</id><url>${url}</url></repository>
  </repositories>`

/**
 * Downloads the server unless it is there. `MAVEN_REPOSITORY_URL` names a repository to take it from; without that
 * `mvn` takes it from whatever mirrors its settings.xml names.
 *
 * @throws Error when it cannot be had
 */
export async function fetchKafkaJars(): Promise<void> {
  if (hasKafkaJars()) return
  const draft = join(toolsFolder, `download-${process.pid}`)
  const jars = join(draft, 'jars')
  mkdirSync(draft, { recursive: true })
  try {
    const url = process.env['MAVEN_REPOSITORY_URL']
    writeFileSync(join(draft, 'pom.xml'), project(url ? repositoryOf(url) : ''))
    const options = [`-DoutputDirectory=${jars}`, '-DincludeScope=runtime']
    const args = ['-q', '-B', '-C', plugin, ...options]
    await promisify(execFile)('mvn', args, { cwd: draft, timeout: downloadMs })
    rmSync(kafkaFolder, { recursive: true, force: true })
    renameSync(jars, kafkaFolder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
