import { CircleUser } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { facts, signOut } from '../api/session.ts'
import { Action } from '../components/action.tsx'
import { Field } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { Time } from '../components/time.tsx'
import { chosenZone, isZone, offsetName, zone } from '../formats/times.ts'
import { paths } from '../routing/paths.ts'
import { hasShortcuts, type Theme, theme, themes } from '../settings/appearance.ts'

/** Who is signed in, how the page looks, and the way out. */
export function SessionMenu() {
  const menu = useRef<HTMLDivElement>(null)
  const known = facts.value
  if (known === undefined) return null
  return (
    <>
      <button type="button" class="plain button" popovertarget="session-menu">
        <Icon of={CircleUser} />
        <span class="key-name">{known.user.username}</span>
        <span class="soft">{offsetName()}</span>
      </button>
      <div id="session-menu" ref={menu} popover="auto" class="menu stack">
        <dl class="facts">
          <dt>Key</dt>
          <dd class="mono">{known.apiKeyId}</dd>
          <dt>Session ends</dt>
          <dd>
            <Time at={known.expiresAt} />, however much it is used; earlier when it is not
          </dd>
        </dl>
        <Appearance />
        <ZoneField />
        <label class="row">
          <input
            type="checkbox"
            checked={hasShortcuts.value}
            onChange={(event) => {
              hasShortcuts.value = event.currentTarget.checked
            }}
          />
          Shortcuts of single keys
        </label>
        <div class="row">
          <a class="button" href={paths.sessions}>
            Sessions
          </a>
          <a class="button" href="/docs">
            API
          </a>
          <Action run={signOut}>Sign out</Action>
        </div>
      </div>
    </>
  )
}

function Appearance() {
  return (
    <Field
      label="Colours"
      control={(tied) => (
        <select
          {...tied}
          value={theme.value}
          onChange={(event) => {
            theme.value = event.currentTarget.value as Theme
          }}
        >
          {themes.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    />
  )
}

function ZoneField() {
  const [problem, setProblem] = useState<string>()
  const known = ['browser', 'UTC', ...Intl.supportedValuesOf('timeZone')]
  return (
    <>
      <Field
        label="Time zone"
        hint={`Times are shown in ${zone.value}.`}
        problem={problem}
        control={(tied) => (
          <input
            {...tied}
            list="zones"
            defaultValue={chosenZone.value}
            onChange={(event) => {
              const name = event.currentTarget.value.trim() || 'browser'
              const isKnown = name === 'browser' || isZone(name)
              setProblem(isKnown ? undefined : `${name} is not a time zone that this browser knows`)
              if (isKnown) chosenZone.value = name
            }}
          />
        )}
      />
      <datalist id="zones">
        {known.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  )
}
