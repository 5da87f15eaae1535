import { z } from 'zod';

/** A secret is never in the file: the value names an environment variable of the daemon. */
const secretName = (example: string) =>
  z
    .string()
    .regex(
      /^\$[A-Za-z_][A-Za-z0-9_]*$/,
      `it names an environment variable, such as $${example}; the secret itself does not belong in this file`,
    );

const isLoopback = (url: string) => /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/.test(url);

export const GithubAuth = z.union(
  [
    z.strictObject({ token: secretName('GITHUB_TOKEN') }),
    /** The login of the `gh` program. */
    z.strictObject({ gh: z.literal(true) }),
    z.strictObject({
      app: z.strictObject({
        id: z.number().int().positive(),
        installation: z.number().int().positive(),
        /** `$NAME`, or the file of the private key, relative to the repository's root. */
        key: z
          .string()
          .min(1)
          .refine(
            (key) => !key.includes('PRIVATE KEY'),
            'a private key does not belong in this file: name a file, or a variable such as $GITHUB_APP_KEY',
          ),
      }),
    }),
  ],
  'is one of { token: $NAME }, { gh: true }, { app: { id, installation, key } }',
);
export type GithubAuth = z.infer<typeof GithubAuth>;

/**
 * Before a change of files that GitHub runs is pushed. `ask`: a person is asked. `allow`: nobody is. `refuse`: the agent
 * must undo it.
 */
export const WorkflowSetting = z.enum(['ask', 'allow', 'refuse']);
export type WorkflowSetting = z.infer<typeof WorkflowSetting>;

/** The connection to GitHub. */
export const GithubConfig = z.strictObject({
  /** Default: from the address of the remote. */
  repository: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]+$/, 'is owner/name, such as octocat/hello-world')
    .optional(),
  /** Of a GitHub Enterprise server: https://HOST/api/v3. A token is sent to no other host. */
  api: z
    .url({ protocol: /^https?$/, error: 'is an address such as https://github.example.com/api/v3' })
    .refine(
      (url) => url.startsWith('https://') || isLoopback(url),
      'must begin with https://, or the token could be read',
    )
    .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'a password does not belong in this file')
    .optional(),
  /** Default: $GITHUB_TOKEN or $GH_TOKEN, then the login of `gh`. */
  auth: GithubAuth.optional(),
  /** Requests that this project may use per hour. GitHub allows a token 5,000. */
  requestsPerHour: z.number().int().min(10).max(15_000).default(2000),
  /** Webhooks signed with this secret make Tidemill look at once. */
  webhookSecret: secretName('GITHUB_WEBHOOK_SECRET').optional(),
  workflows: WorkflowSetting.default('ask'),
});
export type GithubConfig = z.infer<typeof GithubConfig>;
