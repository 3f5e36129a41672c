//! The predefined errors. English is what the wire carries unless a caller asks for Chinese.

use super::{Errno, GrpcStatus};

macro_rules! codes {
    ($($code:literal $name:ident $http:literal $grpc:ident $english:literal $chinese:literal;)*) => {
        $(
            #[doc = concat!(
                "`", $code, "`: ", $english, " (", $chinese, "), HTTP ", $http, ", gRPC ", stringify!($grpc), "."
            )]
            pub const $name: &Errno = &Errno::from_static($code, $http, GrpcStatus::$grpc, $english, $chinese);
        )*

        /// All of them, in the order of their codes.
        pub const ALL: &[&Errno] = &[$($name),*];
    };
}

codes! {
    0 SUCCESS 200 Ok "Success" "成功";

    1000 BAD_REQUEST 400 InvalidArgument "Bad request" "请求错误";
    1001 INVALID_PARAMETER 400 InvalidArgument "Invalid parameter" "参数无效";
    1002 MISSING_PARAMETER 400 InvalidArgument "Missing required parameter" "缺少必需参数";
    1003 INVALID_FORMAT 400 InvalidArgument "Invalid format" "格式不正确";
    1004 VALIDATION_FAILED 400 InvalidArgument "Validation failed" "数据校验未通过";
    1005 ENTITY_TOO_LARGE 413 InvalidArgument "Request entity too large" "请求内容过大";
    1006 UNSUPPORTED_MEDIA_TYPE 415 InvalidArgument "Unsupported media type" "媒体类型不受支持";

    2000 UNAUTHORIZED 401 Unauthenticated "Unauthorized" "未通过身份认证";
    2001 INVALID_TOKEN 401 Unauthenticated "Invalid token" "令牌无效";
    2002 TOKEN_EXPIRED 401 Unauthenticated "Token expired" "令牌已过期";
    2003 INVALID_CREDENTIALS 401 Unauthenticated "Invalid credentials" "登录凭证不正确";
    2004 TOKEN_REVOKED 401 Unauthenticated "Token revoked" "令牌已被吊销";
    2005 SESSION_EXPIRED 401 Unauthenticated "Session expired" "会话已过期";

    3000 FORBIDDEN 403 PermissionDenied "Forbidden" "禁止访问";
    3001 NO_PERMISSION 403 PermissionDenied "No permission" "没有权限";
    3002 RESOURCE_LOCKED 423 PermissionDenied "Resource locked" "资源已被锁定";
    3003 ACCOUNT_DISABLED 403 PermissionDenied "Account disabled" "账号已停用";
    3004 IP_BLOCKED 403 PermissionDenied "IP blocked" "IP 地址已被封禁";

    4000 NOT_FOUND 404 NotFound "Resource not found" "资源不存在";
    4001 USER_NOT_FOUND 404 NotFound "User not found" "用户不存在";
    4002 RECORD_NOT_FOUND 404 NotFound "Record not found" "记录不存在";
    4003 FILE_NOT_FOUND 404 NotFound "File not found" "文件不存在";
    4004 ROUTE_NOT_FOUND 404 NotFound "Route not found" "路由不存在";

    5000 CONFLICT 409 AlreadyExists "Resource conflict" "资源冲突";
    5001 ALREADY_EXISTS 409 AlreadyExists "Resource already exists" "资源已存在";
    5002 DUPLICATE_KEY 409 AlreadyExists "Duplicate key" "键重复";
    5003 VERSION_CONFLICT 409 AlreadyExists "Version conflict" "版本冲突";

    6000 TOO_MANY_REQUESTS 429 ResourceExhausted "Too many requests" "请求过于频繁";
    6001 RATE_LIMIT_EXCEEDED 429 ResourceExhausted "Rate limit exceeded" "超出速率限制";
    6002 QUOTA_EXCEEDED 429 ResourceExhausted "Quota exceeded" "超出配额";

    7000 INTERNAL 500 Internal "Internal server error" "服务器内部错误";
    7001 UNKNOWN 500 Unknown "Unknown error" "未知错误";
    7002 PANIC 500 Internal "Service panic" "服务异常中止";
    7003 NOT_IMPLEMENTED 501 Unimplemented "Not implemented" "功能尚未实现";

    8000 DATABASE 500 Internal "Database error" "数据库错误";
    8001 DATABASE_CONNECTION 500 Unavailable "Database connection failed" "数据库连接失败";
    8002 DATABASE_QUERY 500 Internal "Database query failed" "数据库查询失败";
    8003 DATABASE_TRANSACTION 500 Internal "Database transaction failed" "数据库事务失败";
    8004 DATABASE_DEADLOCK 500 Internal "Database deadlock" "数据库死锁";

    9000 CACHE 500 Internal "Cache error" "缓存错误";
    9001 CACHE_CONNECTION 500 Unavailable "Cache connection failed" "缓存连接失败";
    9002 CACHE_MISS 500 NotFound "Cache miss" "缓存未命中";
    9003 CACHE_EXPIRED 500 NotFound "Cache expired" "缓存已过期";

    10000 NETWORK 502 Unavailable "Network error" "网络错误";
    10001 SERVICE_UNAVAILABLE 503 Unavailable "Service unavailable" "服务不可用";
    10002 CONNECTION_REFUSED 502 Unavailable "Connection refused" "连接被拒绝";
    10003 DNS_RESOLUTION 502 Unavailable "DNS resolution failed" "域名解析失败";

    11000 TIMEOUT 504 DeadlineExceeded "Operation timeout" "操作超时";
    11001 REQUEST_TIMEOUT 408 DeadlineExceeded "Request timeout" "请求超时";
    11002 GATEWAY_TIMEOUT 504 DeadlineExceeded "Gateway timeout" "网关超时";
    11003 CANCELED 499 Canceled "Context canceled" "请求已取消";

    12000 CONFIG 500 Internal "Configuration error" "配置错误";
    12001 CONFIG_NOT_FOUND 500 Internal "Configuration not found" "配置不存在";
    12002 CONFIG_INVALID 500 Internal "Invalid configuration" "配置无效";

    2001001 RAG_INVALID_REQUEST 400 InvalidArgument "Invalid request parameters" "请求参数无效";
    2001002 RAG_INVALID_URL 400 InvalidArgument "Invalid URL format" "URL 格式不正确";
    2001003 RAG_INVALID_DIRECTORY 400 InvalidArgument "Invalid directory path" "目录路径无效";
    2004001 RAG_NO_RESULTS 404 NotFound "No results found" "没有找到结果";
    2007001 RAG_QUERY 500 Internal "Query failed" "查询失败";
    2007002 RAG_INDEXING 500 Internal "Document indexing failed" "文档索引失败";
    2007003 RAG_PROCESSING 500 Internal "Document processing failed" "文档处理失败";
    2007004 RAG_NO_EVALUATOR 500 FailedPrecondition "Evaluator not initialized" "评估器未初始化";
    2007005 RAG_STATISTICS 500 Internal "Statistics unavailable" "统计信息不可用";
    2010001 RAG_DOWNLOAD 500 Internal "Document download failed" "文档下载失败";
    2010002 RAG_UNAVAILABLE 503 Unavailable "RAG service unavailable" "RAG 服务不可用";
    2011001 RAG_TIMEOUT 408 DeadlineExceeded "Query timeout" "查询超时";
}
