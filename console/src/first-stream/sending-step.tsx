import type { Operations } from '../../../clients/typescript/call.ts'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { facts, may } from '../api/session.ts'
import { CopyText } from '../components/copy.tsx'
import { NameLink } from '../components/name-link.tsx'
import { Failed, FailureText, Loaded } from '../components/states.tsx'
import { nowMs } from '../components/time.tsx'
import { exampleReading } from '../formats/example-reading.ts'
import { paths } from '../routing/paths.ts'
import { type CommandFacts, curlLine, mosquittoLine, topicOf } from './commands.ts'
import { useFirstReading } from './first-reading.ts'
import { sampleFor } from './kept-sample.ts'

export interface SendingStepProps {
  readonly streamId: string
}

/** How the first reading is sent, and that it has come. */
export function SendingStep({ streamId }: SendingStepProps) {
  const stream = useResource(
    (signal) => api.call('readStream', { path: { streamId }, signal }),
    [streamId],
  )
  return (
    <Loaded of={stream} lines={4}>
      {({ name, source, schema, warnings }) => (
        <div class="stack">
          <p>
            <NameLink href={paths.stream(streamId)} name={name} /> is there, and waits.
          </p>
          {warnings?.map((warning) => (
            <p key={warning} class="notice warn">
              {warning}
            </p>
          ))}
          <Commands streamId={streamId} source={source} schema={schema} />
          {may('data:read') ? <Waiting streamId={streamId} /> : <Unseen />}
        </div>
      )}
    </Loaded>
  )
}

interface CommandsProps extends SendingStepProps {
  readonly source: Readonly<Record<string, unknown>>
  readonly schema: Operations['readStream']['answer']['schema']
}

function Commands({ streamId, source, schema }: CommandsProps) {
  const service = facts.value?.service
  if (service === undefined) return null
  const topic = source['topic']
  const known: CommandFacts = {
    streamId,
    // The service was reached there: what it takes for its own address may be that of a proxy.
    http: location.origin,
    mqtt: service.mqtt,
    mqtts: service.mqtts,
    topic: typeof topic === 'string' && !/[+#]/.test(topic) ? topic : undefined,
    // Without the sample, as after loading the page again, something that the stream takes.
    message: sampleFor(streamId) ?? {
      first: JSON.stringify(exampleReading(schema, new Date(nowMs.peek()).toISOString())),
      contentType: 'application/json',
    },
  }
  const mosquitto = mosquittoLine(known)
  return (
    <>
      {mosquitto !== undefined && (
        <section class="stack first-command" aria-label="Over MQTT">
          <h3>Over MQTT</h3>
          <CopyText text={mosquitto} label="the line for MQTT" />
          <p class="soft">
            Devices publish to <code>{topicOf(known)}</code>.
          </p>
        </section>
      )}
      <section class="stack first-command" aria-label="Over HTTP">
        <h3>Over HTTP</h3>
        <CopyText text={curlLine(known)} label="the line for HTTP" />
      </section>
      <p class="soft">
        Before that, set <code>KEY</code> and <code>SECRET</code> in the shell: those of a device,
        or those that you signed in with. This page does not know any secret.
      </p>
    </>
  )
}

/** The first reading is told as soon as it comes; one that was refused says why. */
function Waiting({ streamId }: { readonly streamId: string }) {
  const { state, reading, refused } = useFirstReading(streamId)
  if (reading) {
    return (
      <div class="notice good" role="status">
        <p>
          <strong>The first reading has arrived.</strong>
        </p>
        <pre class="first-reading">{JSON.stringify(reading, null, 2)}</pre>
        <div class="row">
          <a class="button primary" href={paths.stream(streamId, 'live')}>
            See it live
          </a>
        </div>
      </div>
    )
  }
  return (
    <>
      {refused && <Refused streamId={streamId} refused={refused} />}
      {state.is === 'failed' ? (
        <Failed failure={state.failure} />
      ) : (
        <p class="row" role="status">
          <span class="first-pulse" aria-hidden="true" />
          {state.is === 'open' ? 'Waiting for the first reading' : 'Connecting'}
        </p>
      )}
      {state.is === 'waiting' && state.failure && <FailureText failure={state.failure} />}
    </>
  )
}

interface RefusedProps {
  readonly streamId: string
  readonly refused: Readonly<Record<string, unknown>>
}

function Refused({ streamId, refused }: RefusedProps) {
  const { reason, message } = refused
  return (
    <div class="notice warn" role="status">
      <p>
        <strong>Something came, and was refused.</strong> {typeof message === 'string' && message}{' '}
        {typeof reason === 'string' && <code>{reason}</code>}
      </p>
      <p>
        <a href={paths.stream(streamId, 'quarantine')}>See why, and correct it</a>
      </p>
    </div>
  )
}

function Unseen() {
  return (
    <p class="soft">
      Whether it has arrived is not shown here: your key lacks the permission <code>data:read</code>
      .
    </p>
  )
}
