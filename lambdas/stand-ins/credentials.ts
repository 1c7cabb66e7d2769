import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Stands in for `@aws-sdk/credential-provider-node`. A function finds the credentials of its role in its environment,
 * and the SDK's whole chain looks there first: files, SSO, processes and metadata services are for other places.
 * (Functions with SnapStart get theirs otherwise; there is none for Node.)
 */
export const defaultProvider = fromEnv;
