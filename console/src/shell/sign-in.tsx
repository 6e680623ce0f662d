import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../api/failure.ts'
import { serviceNowMs } from '../api/service-clock.ts'
import { facts, signIn } from '../api/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { FailureText } from '../components/states.tsx'
import { nowMs } from '../components/time.tsx'
import { span } from '../formats/times.ts'

/** The page of those who are not signed in. */
export function SignInPage() {
  const keyBox = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Streamvault'
    keyBox.current?.focus()
  }, [])
  return (
    <main class="sign-in stack" id="main">
      <h1>Streamvault</h1>
      <p class="soft">
        Sign in with an API key. The first one is in the file that the service names when it starts.
      </p>
      <SignInForm keyBox={keyBox} />
    </main>
  )
}

/** Over the page, when the session has ended: what was typed, chosen and scrolled to stays. */
export function SignInAgain() {
  const secretBox = useRef<HTMLInputElement>(null)
  return (
    <Dialog title="Your session is over" onClose={undefined} focusFirst={secretBox}>
      <p>Sign in again to go on. Everything on the page stays as it is.</p>
      <SignInForm keyId={facts.value?.apiKeyId} secretBox={secretBox} />
    </Dialog>
  )
}

interface SignInFormProps {
  readonly keyId?: string | undefined
  readonly keyBox?: RefObject<HTMLInputElement | null>
  readonly secretBox?: RefObject<HTMLInputElement | null>
}

function SignInForm(boxes: SignInFormProps) {
  const [failure, setFailure] = useState<Failure & { readonly untilMs: number | undefined }>()
  const [isBusy, setBusy] = useState(false)
  const waitS = failure?.untilMs === undefined ? 0 : (failure.untilMs - nowMs.value) / 1000
  const submit = async (form: HTMLFormElement) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await signIn(enteredIn(form, 'key'), enteredIn(form, 'secret'))
    } catch (error) {
      const known = failureOf(error)
      const { retryAfterS } = known
      const untilMs = retryAfterS === undefined ? undefined : serviceNowMs() + retryAfterS * 1000
      setFailure({ ...known, untilMs })
      setBusy(false)
    }
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
    >
      <KeyFields {...boxes} />
      {failure && (
        <div class="notice bad" role="alert">
          <FailureText failure={failure} />
          {waitS > 0 && <p>Again in {span(Math.ceil(waitS))}.</p>}
        </div>
      )}
      <div class="row">
        <button type="submit" class="button primary" disabled={isBusy || waitS > 0}>
          Sign in
        </button>
      </div>
    </form>
  )
}

function KeyFields({ keyId = '', keyBox, secretBox }: SignInFormProps) {
  return (
    <>
      <Field
        label="Key"
        control={(tied) => (
          <input
            {...tied}
            ref={keyBox ?? null}
            name="key"
            required
            autocomplete="username"
            defaultValue={keyId}
            spellcheck={false}
          />
        )}
      />
      <Field
        label="Secret"
        control={(tied) => (
          <input
            {...tied}
            ref={secretBox ?? null}
            name="secret"
            type="password"
            required
            autocomplete="current-password"
          />
        )}
      />
    </>
  )
}

function enteredIn(form: HTMLFormElement, name: string): string {
  const control = form.elements.namedItem(name)
  return control instanceof HTMLInputElement ? control.value.trim() : ''
}
