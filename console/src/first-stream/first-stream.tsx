import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { may } from '../api/session.ts'
import { Empty } from '../components/states.tsx'
import { paths, withQuery } from '../routing/paths.ts'
import { useQuery } from '../routing/query.ts'
import { DefinitionStep } from './definition-step.tsx'
import './first-stream.css'
import { keepSample } from './kept-sample.ts'
import { type Proposed, SampleStep } from './sample-step.tsx'
import { SendingStep } from './sending-step.tsx'

/**
 * From what a device sends to a stream that receives it, in three steps: paste a sample, look at what it would become,
 * send the first reading. The stream that was made is in the address: it can be left and come back to.
 */
export function FirstStream() {
  const query = useQuery()
  const { route } = useLocation()
  const [proposed, setProposed] = useState<Proposed>()
  const madeId = query.get('made')
  if (!may('streams:write')) {
    return (
      <Empty title="Your key may not make streams">
        <p>
          A stream keeps what a device sends. To make one, a key needs the permission{' '}
          <code>streams:write</code>, which the owner of the account can give.
        </p>
      </Empty>
    )
  }
  return (
    <ol class="first-steps">
      <Step at={1} title="Paste what your device sends" isCurrent={madeId === '' && !proposed}>
        {madeId === '' && <SampleStep onProposed={setProposed} />}
      </Step>
      <Step
        at={2}
        title="Look at the stream it becomes"
        isCurrent={madeId === '' && proposed !== undefined}
      >
        {madeId === '' && proposed && (
          <DefinitionStep
            key={proposed.at}
            proposed={proposed}
            onMade={(streamId) => {
              keepSample(streamId, proposed.sample)
              route(withQuery(paths.newStream, { made: streamId }))
            }}
          />
        )}
      </Step>
      <Step at={3} title="Send the first reading" isCurrent={madeId !== ''}>
        {madeId !== '' && <SendingStep key={madeId} streamId={madeId} />}
      </Step>
    </ol>
  )
}

interface StepProps {
  readonly at: number
  readonly title: string
  readonly isCurrent: boolean
  readonly children: ComponentChildren
}

function Step({ at, title, isCurrent, children }: StepProps) {
  return (
    <li class="card first-step" aria-current={isCurrent ? 'step' : undefined}>
      <h2>
        <span class="first-number" aria-hidden="true">
          {at}
        </span>
        {title}
      </h2>
      {children}
    </li>
  )
}
